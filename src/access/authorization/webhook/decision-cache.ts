import type { Clock } from "../../../process/clock.ts";
import type { Decision } from "../authorizer.ts";

/** Maximum number of cached decisions. The least recently used one is dropped. */
export const cachedDecisionsMax = 8_192;
/** Maximum length of a cached question. Clients choose the keys, and all stay in memory. */
export const cachedQuestionCharactersMax = 10_000;

interface Kept {
  readonly decision: Decision;
  readonly untilMs: number;
}

/** Answers of a webhook by the full question, so that two questions never share one. */
export class DecisionCache {
  readonly #clock: Clock;
  readonly #kept = new Map<string, Kept>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#kept.size;
  }

  get(question: string): Decision | undefined {
    const kept = this.#kept.get(question);
    if (kept === undefined) return undefined;
    this.#kept.delete(question);
    if (kept.untilMs <= this.#clock.steadyMs()) return undefined;
    this.#kept.set(question, kept);
    return kept.decision;
  }

  /** Caches a decision, unless `ttlMs` is 0. */
  set(question: string, decision: Decision, ttlMs: number): void {
    if (ttlMs <= 0 || question.length > cachedQuestionCharactersMax) return;
    this.#kept.delete(question);
    if (this.#kept.size >= cachedDecisionsMax) this.#kept.delete(this.#kept.keys().next().value as string);
    this.#kept.set(question, { decision, untilMs: this.#clock.steadyMs() + ttlMs });
  }
}

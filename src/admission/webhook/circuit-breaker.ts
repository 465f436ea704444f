import type { AdmissionWebhook } from "./webhook-configuration.ts";
import type { Clock } from "../../process/clock.ts";

/** Timeouts in a row after which a webhook is not called any more. */
export const timeoutsMax = 12;
/** Time between two attempts to call it again. */
export const retryMs = 5_000;
/** Webhooks whose timeouts are counted; the ones that were called least recently are forgotten first. */
const circuitsMax = 1_024;

/** The names of a webhook. */
type CircuitWebhook = Pick<AdmissionWebhook, "generation" | "configuration" | "name">;

interface Circuit {
  timeouts: number;
  /** Time of the next attempt; undefined while the webhook is called. */
  retryAtMs: number | undefined;
}

/**
 * Spares requests the wait for webhooks that do not answer. After several timeouts in a row a webhook counts as failed at
 * once, but for one call every few seconds; the first answer ends this.
 */
export class CircuitBreaker {
  readonly #clock: Clock;
  readonly #onChange: (webhook: CircuitWebhook, isOpen: boolean) => void;
  readonly #circuits = new Map<string, Circuit>();

  constructor(clock: Clock, onChange: (webhook: CircuitWebhook, isOpen: boolean) => void) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  /** Reports whether a webhook may be called now. */
  admits({ generation }: CircuitWebhook): boolean {
    const circuit = this.#circuits.get(generation);
    if (circuit?.retryAtMs === undefined) return true;
    const nowMs = this.#clock.steadyMs();
    if (nowMs < circuit.retryAtMs) return false;
    circuit.retryAtMs = nowMs + retryMs;
    return true;
  }

  timedOut(webhook: CircuitWebhook): void {
    const { generation } = webhook;
    const circuit = this.#circuits.get(generation) ?? { timeouts: 0, retryAtMs: undefined };
    this.#circuits.delete(generation);
    this.#circuits.set(generation, circuit);
    const [oldest] = this.#circuits.keys();
    if (this.#circuits.size > circuitsMax && oldest !== undefined) this.#circuits.delete(oldest);
    circuit.timeouts++;
    if (circuit.timeouts < timeoutsMax || circuit.retryAtMs !== undefined) return;
    circuit.retryAtMs = this.#clock.steadyMs() + retryMs;
    this.#onChange(webhook, true);
  }

  /** Any answer counts, also one that cannot be used. */
  answered(webhook: CircuitWebhook): void {
    const circuit = this.#circuits.get(webhook.generation);
    if (circuit === undefined) return;
    this.#circuits.delete(webhook.generation);
    if (circuit.retryAtMs !== undefined) this.#onChange(webhook, false);
  }
}

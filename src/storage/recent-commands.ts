import type { ApplyResult } from "./store.ts";

/** Ids that the state machine recognises when they come again. Part of the replicated state: the same on every replica. */
export const recentCommandsMax = 16_384;
/** Bodies that remembered results may keep alive. A result beyond it is forgotten, its id is not. */
export const recentResultBytesMax = 8 * 1024 * 1024;

/** The newest command ids in the order of their application, each with its result while that is affordable. */
export class RecentCommands {
  /** Undefined: the command was applied, but its answer is no longer here. */
  readonly #results = new Map<string, ApplyResult | undefined>();
  readonly #idsMax: number;
  readonly #bytesMax: number;
  /** Ids whose result is still held, oldest first. */
  readonly #held = new Map<string, number>();
  #heldBytes = 0;

  constructor(idsMax = recentCommandsMax, bytesMax = recentResultBytesMax) {
    this.#idsMax = idsMax;
    this.#bytesMax = bytesMax;
  }

  has(id: string): boolean {
    return this.#results.has(id);
  }

  result(id: string): ApplyResult | undefined {
    return this.#results.get(id);
  }

  /** Oldest first: what a snapshot carries. */
  ids(): string[] {
    return [...this.#results.keys()];
  }

  remember(id: string, result: ApplyResult | undefined): void {
    if (this.#results.has(id)) return;
    this.#results.set(id, result);
    if (result !== undefined) this.#hold(id, result);
    if (this.#results.size > this.#idsMax) this.#forgetOldest();
  }

  #hold(id: string, result: ApplyResult): void {
    const entry = result.kind === "applied" ? result.entry : result.current;
    const bytes = entry?.body.byteLength ?? 0;
    this.#held.set(id, bytes);
    this.#heldBytes += bytes;
    for (const [oldest, oldestBytes] of this.#held) {
      if (this.#heldBytes <= this.#bytesMax) break;
      this.#release(oldest, oldestBytes);
      this.#results.set(oldest, undefined);
    }
  }

  #forgetOldest(): void {
    for (const id of this.#results.keys()) {
      this.#results.delete(id);
      const bytes = this.#held.get(id);
      if (bytes !== undefined) this.#release(id, bytes);
      return;
    }
  }

  #release(id: string, bytes: number): void {
    this.#held.delete(id);
    this.#heldBytes -= bytes;
  }
}

import type { ApplyResult } from "./store.ts";

/** Ids that the state machine recognises when they come again. Part of the replicated state: the same on every replica. */
const recentCommandsMax = 16_384;
/** Bodies that remembered results may keep alive. A result beyond it is forgotten, its id is not. */
const recentResultBytesMax = 8 * 1024 * 1024;

/** The newest command ids in the order of their application, each with its result while that is affordable. */
export class RecentCommands {
  /** Undefined: the command was applied, but its answer is no longer here. */
  readonly #results = new Map<string, ApplyResult | undefined>();
  readonly #idsMax: number;
  readonly #bytesMax: number;
  /** A ring: the id that was the n-th to be remembered stands at n modulo its length. A map is slow to find its oldest. */
  readonly #ring: string[] = [];
  /** Ids remembered so far. */
  #count = 0;
  /** Of the oldest id whose result is still held. */
  #heldFrom = 0;
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
    const oldest = this.#count < this.#idsMax ? 0 : this.#count % this.#idsMax;
    return [...this.#ring.slice(oldest), ...this.#ring.slice(0, oldest)];
  }

  remember(id: string, result: ApplyResult | undefined): void {
    if (this.#results.has(id)) return;
    if (this.#count >= this.#idsMax) this.#forgetOldest();
    this.#ring[this.#count % this.#idsMax] = id;
    this.#count++;
    this.#results.set(id, result);
    this.#heldBytes += resultBytes(result);
    while (this.#heldBytes > this.#bytesMax) this.#releaseOldest();
  }

  #forgetOldest(): void {
    if (this.#heldFrom === this.#count - this.#idsMax) this.#releaseOldest();
    this.#results.delete(this.#ring[this.#count % this.#idsMax] as string);
  }

  #releaseOldest(): void {
    const id = this.#ring[this.#heldFrom % this.#idsMax] as string;
    this.#heldBytes -= resultBytes(this.#results.get(id));
    this.#results.set(id, undefined);
    this.#heldFrom++;
  }
}

function resultBytes(result: ApplyResult | undefined): number {
  const entry = result?.kind === "applied" ? result.entry : result?.current;
  return entry?.body.byteLength ?? 0;
}

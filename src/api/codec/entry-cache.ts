import type { Entry } from "../entry.ts";

/** Entries under names, within a limit of the bytes of their bodies. The least recently used are dropped first. */
export class EntryCache {
  readonly #bytesMax: number;
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Bytes of the bodies that are kept. */
  get bytes(): number {
    return this.#bytes;
  }

  get(name: string): Entry | undefined {
    const entry = this.#entries.get(name);
    if (entry === undefined) return undefined;
    this.#entries.delete(name);
    this.#entries.set(name, entry);
    return entry;
  }

  set(name: string, entry: Entry): void {
    this.#drop(name);
    this.#entries.set(name, entry);
    this.#bytes += entry.body.byteLength;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#drop(oldest);
    }
  }

  #drop(name: string): void {
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    this.#entries.delete(name);
    this.#bytes -= entry.body.byteLength;
  }
}

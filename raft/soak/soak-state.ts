import { existsSync, readFileSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { crc32 } from "node:zlib";
import type { Entry, Index, StateImage, StateMachine } from "../index.ts";

export interface Contents {
  readonly applied: number;
  /** Digest of all ids, in the order in which they were applied. */
  readonly digest: number;
  readonly round: number;
  /** Number of times that each id of this round and the one before was applied. */
  readonly counts: readonly (readonly [id: string, count: number])[];
}

/** Counts applied entries. An entry begins with `<round>.<writer>.<number> `; the rest is padding. */
export class SoakState implements StateMachine<number> {
  readonly #path: string;
  #counts = new Map<string, number>();
  #applied = 0;
  #durable = 0;
  #digest = 0;
  #round = 0;

  constructor(path: string) {
    this.#path = path;
    if (existsSync(path)) this.#load(readFileSync(path, "utf8"));
    this.#durable = this.#applied;
  }

  get contents(): Contents {
    return { applied: this.#applied, digest: this.#digest, round: this.#round, counts: [...this.#counts] };
  }

  has(id: string): boolean {
    return this.#counts.has(id);
  }

  durableIndex(): Index {
    return this.#durable as Index;
  }

  apply(entries: readonly Entry[]): number[] {
    return entries.map(({ index, kind, data }) => {
      if (index !== this.#applied + 1) throw new Error(`entry ${index} was applied after entry ${this.#applied}`);
      this.#applied = index;
      if (kind === "normal") this.#count(Buffer.from(data.subarray(0, data.indexOf(32))).toString());
      return index;
    });
  }

  async checkpoint(): Promise<Index> {
    const applied = this.#applied;
    await this.#store(JSON.stringify(this.contents));
    this.#durable = applied;
    return applied as Index;
  }

  snapshot(): StateImage {
    const text = JSON.stringify(this.contents);
    async function* chunks() {
      for (let from = 0; from < text.length; from += 4096) yield Buffer.from(text.slice(from, from + 4096));
    }
    return { index: this.#applied as Index, chunks: chunks(), release: () => {} };
  }

  async restore(index: Index, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const parts: Uint8Array[] = [];
    for await (const chunk of chunks) parts.push(chunk);
    const text = Buffer.concat(parts).toString();
    if ((JSON.parse(text) as Contents).applied !== index) throw new Error("the snapshot is of another place");
    await this.#store(text);
    this.#load(text);
    this.#durable = index;
  }

  #count(id: string): void {
    const round = Number.parseInt(id, 10);
    if (round > this.#round) {
      this.#round = round;
      this.#counts = new Map([...this.#counts].filter(([known]) => Number.parseInt(known, 10) >= round - 1));
    }
    this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1);
    this.#digest = crc32(Buffer.from(id), this.#digest);
  }

  #load(text: string): void {
    const { applied, digest, round, counts } = JSON.parse(text) as Contents;
    this.#counts = new Map(counts.map(([id, count]) => [id, count]));
    this.#applied = applied;
    this.#digest = digest;
    this.#round = round;
  }

  /** Stores the text atomically: the file has the old state or the new one, and is durable when this resolves. */
  async #store(text: string): Promise<void> {
    const file = await open(`${this.#path}.new`, "w", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(`${this.#path}.new`, this.#path);
    const directory = await open(this.#path.slice(0, this.#path.lastIndexOf("/")), "r");
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  }
}

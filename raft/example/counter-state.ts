import { existsSync, readFileSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import type { Entry, Index, StateImage, StateMachine } from "../index.ts";

/** Numbers by name. An entry is `<name> <number to add>`, and its result is the sum. */
export class CounterState implements StateMachine<number> {
  readonly sums = new Map<string, number>();
  readonly #path: string | undefined;
  #applied = 0;
  #durable = 0;

  /** @param path the file for checkpoints and snapshots; without one, everything stays in memory */
  constructor(path?: string) {
    this.#path = path;
    if (path !== undefined && existsSync(path)) this.#load(readFileSync(path, "utf8"));
    this.#durable = this.#applied;
  }

  durableIndex(): Index {
    return this.#durable as Index;
  }

  apply(entries: readonly Entry[]): number[] {
    return entries.map(({ index, kind, data }) => {
      this.#applied = index;
      return kind === "normal" ? this.#add(new TextDecoder().decode(data)) : 0;
    });
  }

  async checkpoint(): Promise<Index> {
    await this.#store(this.#text());
    return this.#applied as Index;
  }

  snapshot(): StateImage {
    const text = this.#text();
    async function* chunks() {
      for (let from = 0; from < text.length; from += 65_536) yield Buffer.from(text.slice(from, from + 65_536));
    }
    return { index: this.#applied as Index, chunks: chunks(), release: () => {} };
  }

  async restore(_: Index, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const parts: Uint8Array[] = [];
    for await (const chunk of chunks) parts.push(chunk);
    const text = Buffer.concat(parts).toString();
    await this.#store(text);
    this.#load(text);
  }

  #add(command: string): number {
    const [name = "", number = "0"] = command.split(" ");
    const sum = (this.sums.get(name) ?? 0) + Number(number);
    this.sums.set(name, sum);
    return sum;
  }

  #text(): string {
    return JSON.stringify({ applied: this.#applied, sums: [...this.sums] });
  }

  #load(text: string): void {
    const { applied, sums } = JSON.parse(text) as { applied: number; sums: [string, number][] };
    this.sums.clear();
    for (const [name, sum] of sums) this.sums.set(name, sum);
    this.#applied = applied;
  }

  /** Stores the text atomically: the file has the old state or the new one. */
  async #store(text: string): Promise<void> {
    this.#durable = (JSON.parse(text) as { applied: number }).applied;
    if (this.#path === undefined) return;
    const file = await open(`${this.#path}.new`, "w", 0o600);
    await file.writeFile(text);
    await file.sync();
    await file.close();
    await rename(`${this.#path}.new`, this.#path);
  }
}

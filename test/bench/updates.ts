import type { Client } from "./client.ts";
import { collection, document, objectName } from "./documents.ts";

/** Replaces object after object; each new state says when it was sent, in ms of `performance.now()`. */
export class Updates {
  readonly #client: Client;
  readonly #objects: number;
  #count = 0;

  constructor(client: Client, objects: number) {
    this.#client = client;
    this.#objects = objects;
  }

  get count(): number {
    return this.#count;
  }

  async create(): Promise<void> {
    const bodies = Array.from({ length: this.#objects }, (_, number) => JSON.stringify(document(number)));
    await Promise.all(bodies.map((body) => this.#client.expect("POST", collection, body)));
  }

  async one(): Promise<void> {
    const number = this.#count++ % this.#objects;
    const object = document(number) as unknown as { data: Record<string, string> };
    object.data = { ...object.data, sentMs: String(performance.now()) };
    await this.#client.expect("PUT", `${collection}/${objectName(number)}`, JSON.stringify(object));
  }

  /** At a fixed rate, whatever the answers take. */
  async atRate(perSecond: number, seconds: number): Promise<void> {
    const startMs = performance.now();
    const running: Promise<void>[] = [];
    for (let sent = 0; sent < perSecond * seconds; ) {
      const due = Math.floor(((performance.now() - startMs) / 1_000) * perSecond) + 1;
      for (; sent < Math.min(due, perSecond * seconds); sent++) running.push(this.one());
      await Bun.sleep(1);
    }
    await Promise.all(running);
  }

  /** As many as are answered, so many at a time. */
  async saturate(writers: number, seconds: number): Promise<void> {
    const endMs = performance.now() + seconds * 1_000;
    const write = async () => {
      while (performance.now() < endMs) await this.one();
    };
    await Promise.all(Array.from({ length: writers }, write));
  }
}

const mark = Buffer.from('"sentMs":"');

/** Milliseconds from sending to now of every event in a piece of a watch. */
export function latencies(chunk: Buffer): number[] {
  const nowMs = performance.now();
  const found: number[] = [];
  for (let at = chunk.indexOf(mark); at >= 0; at = chunk.indexOf(mark, at + 1)) {
    const sentMs = Number.parseFloat(chunk.toString("latin1", at + mark.length, at + mark.length + 24));
    if (sentMs > 0) found.push(nowMs - sentMs);
  }
  return found;
}

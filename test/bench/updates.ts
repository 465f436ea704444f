import { Client } from "./client.ts";
import { collection, document, objectName } from "./documents.ts";

const createdAtOnce = 100;

/** Replaces one object after the other. Each new state contains its sending time, in ms of `performance.now()`. */
export class Updates {
  readonly #clients: readonly Client[];
  readonly #objects: number;
  #count = 0;
  #turn = 0;

  /** @param clients take turns, because one connection handles a few hundred requests at a time */
  constructor(clients: Client | readonly Client[], objects: number) {
    this.#clients = clients instanceof Client ? [clients] : clients;
    this.#objects = objects;
  }

  get #next(): Client {
    return this.#clients[this.#turn++ % this.#clients.length] as Client;
  }

  get count(): number {
    return this.#count;
  }

  async create(): Promise<void> {
    const bodies = Array.from({ length: this.#objects }, (_, number) => JSON.stringify(document(number)));
    for (let from = 0; from < bodies.length; from += createdAtOnce) {
      const some = bodies.slice(from, from + createdAtOnce);
      await Promise.all(some.map((body) => this.#next.expect("POST", collection, body)));
    }
  }

  async one(): Promise<void> {
    const number = this.#count++ % this.#objects;
    const object = document(number) as unknown as { data: Record<string, string> };
    object.data = { ...object.data, sentMs: String(performance.now()) };
    await this.#next.expect("PUT", `${collection}/${objectName(number)}`, JSON.stringify(object));
  }

  /** Updates at a fixed rate, however long the answers take. Returns the duration of each in ms, from its due time. */
  async atRate(perSecond: number, seconds: number): Promise<number[]> {
    const startMs = performance.now();
    const running: Promise<number>[] = [];
    const timed = async (dueMs: number) => {
      await this.one();
      return performance.now() - dueMs;
    };
    for (let sent = 0; sent < perSecond * seconds; ) {
      const due = Math.floor(((performance.now() - startMs) / 1_000) * perSecond) + 1;
      for (; sent < Math.min(due, perSecond * seconds); sent++) {
        running.push(timed(startMs + (1_000 * sent) / perSecond));
      }
      await Bun.sleep(1);
    }
    return Promise.all(running);
  }

  /** Updates as fast as the server answers, with a number of requests at a time. */
  async saturate(writers: number, seconds: number): Promise<void> {
    const endMs = performance.now() + seconds * 1_000;
    const write = async () => {
      while (performance.now() < endMs) await this.one();
    };
    await Promise.all(Array.from({ length: writers }, write));
  }
}

const mark = Buffer.from('"sentMs":"');

/** Returns the milliseconds since sending for every event in a piece of a watch. */
export function latencies(chunk: Buffer): number[] {
  const nowMs = performance.now();
  const found: number[] = [];
  for (let at = chunk.indexOf(mark); at >= 0; at = chunk.indexOf(mark, at + 1)) {
    const sentMs = Number.parseFloat(chunk.toString("latin1", at + mark.length, at + mark.length + 24));
    if (sentMs > 0) found.push(nowMs - sentMs);
  }
  return found;
}

import type { Client } from "./client.ts";
import type { PreparedCreates } from "./prepared-creates.ts";

/** Number of creations until the servers' code is compiled. A few writers take longer, which is not worth the wait. */
const warmUpCreates = 10_000;
const warmUpMsMax = 8_000;

export interface CreateLoadOptions {
  /** Connections that the writers share, because one handles a few hundred requests at a time. */
  readonly clients: readonly Client[];
  readonly writers: number;
  readonly bodies: PreparedCreates;
}

/** Runs writers, each of which creates an object as soon as the previous one is acknowledged. */
export class CreateLoad {
  readonly #options: CreateLoadOptions;

  constructor(options: CreateLoadOptions) {
    this.#options = options;
  }

  async warmUp(): Promise<void> {
    await this.run(warmUpMsMax, warmUpCreates);
  }

  /** Returns the duration of each creation in ms. */
  async run(milliseconds: number, countMax = Number.POSITIVE_INFINITY): Promise<number[]> {
    const { clients, writers, bodies } = this.#options;
    const endMs = performance.now() + milliseconds;
    const latenciesMs: number[] = [];
    const write = async (writer: number) => {
      const client = clients[writer % clients.length] as Client;
      for (let sentMs = performance.now(); sentMs < endMs && latenciesMs.length < countMax; ) {
        await client.expect("POST", bodies.path, bodies.next());
        const nowMs = performance.now();
        latenciesMs.push(nowMs - sentMs);
        sentMs = nowMs;
      }
    };
    await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
    return latenciesMs;
  }
}

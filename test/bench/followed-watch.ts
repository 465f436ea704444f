import { collection } from "./documents.ts";
import { RoamingClient } from "./roaming-client.ts";

const newline = 0x0a;
const version = Buffer.from('"resourceVersion":"');
const name = Buffer.from('"name":"writer-');
const sequence = Buffer.from('"sequence":"');
/** Events are frequent, so a server that sends nothing for this long is abandoned. */
const silenceMs = 3_000;
const watchSeconds = 3_600;

export interface FollowedWatchOptions {
  readonly endpoints: readonly string[];
  readonly token: string;
  /** The endpoint to start with. */
  readonly at: number;
  /** The resourceVersion at which all counters are 0. */
  readonly from: string;
  /** The only writer whose object is watched; undefined for all. */
  readonly writer?: number | undefined;
}

/**
 * A watcher that behaves like an informer: it resumes at another member from its last event, and checks each event
 * against the previous ones.
 */
export class FollowedWatch implements Disposable {
  readonly #client: RoamingClient;
  readonly #writer: number | undefined;
  /** The last count of each writer. */
  readonly #seen: number[] = [];
  #version: number;
  #heardMs = 0;
  #isStopping = false;
  events = 0;
  /** Events that were repeated or out of order. */
  misplaced = 0;
  /** Counts that were skipped. */
  #skipped = 0;
  /** Number of times that it had to list again. */
  expired = 0;

  constructor(options: FollowedWatchOptions) {
    this.#client = new RoamingClient(options);
    this.#version = Number(options.from);
    this.#writer = options.writer;
    void this.#run();
  }

  hasSeen(expected: readonly number[]): boolean {
    return this.#behind(expected) === 0;
  }

  missing(expected: readonly number[]): number {
    return this.#skipped + this.#behind(expected);
  }

  [Symbol.dispose](): void {
    this.#isStopping = true;
    this.#client[Symbol.dispose]();
  }

  #behind(expected: readonly number[]): number {
    return expected.reduce((sum, count, writer) => {
      const isWatched = this.#writer === undefined || this.#writer === writer;
      return isWatched ? sum + Math.max(0, count - (this.#seen[writer] ?? 0)) : sum;
    }, 0);
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      await this.#watchOnce();
      if (!this.#isStopping) await this.#client.moveOn();
    }
  }

  #watchOnce(): Promise<void> {
    const selector = this.#writer === undefined ? "" : `&fieldSelector=metadata.name%3D${writerName(this.#writer)}`;
    const path = `${collection}?watch=1&resourceVersion=${this.#version}&timeoutSeconds=${watchSeconds}${selector}`;
    return new Promise((resolve) => {
      const stream = this.#client.open(path);
      let rest: Buffer = Buffer.alloc(0);
      this.#heardMs = performance.now();
      const silence = setInterval(() => {
        if (performance.now() - this.#heardMs > silenceMs) stream.destroy();
      }, silenceMs / 4);
      stream.on("data", (chunk: Buffer) => {
        this.#heardMs = performance.now();
        this.#client.works();
        rest = this.#take(rest.length === 0 ? chunk : Buffer.concat([rest, chunk]));
      });
      stream.once("close", () => {
        clearInterval(silence);
        resolve();
      });
    });
  }

  /** Returns the start of an incomplete line. */
  #take(bytes: Buffer): Buffer {
    let from = 0;
    for (let end = bytes.indexOf(newline, from); end >= 0; end = bytes.indexOf(newline, from)) {
      this.#event(bytes.subarray(from, end));
      from = end + 1;
    }
    return bytes.subarray(from);
  }

  #event(line: Buffer): void {
    const writer = numberAfter(line, name);
    if (Number.isNaN(writer)) {
      if (line.includes('"code":410')) this.expired++;
      return;
    }
    const at = numberAfter(line, version);
    this.events++;
    if (!(at > this.#version)) this.misplaced++;
    this.#version = Math.max(this.#version, at);
    const count = numberAfter(line, sequence);
    const before = this.#seen[writer] ?? 0;
    if (count > before + 1) this.#skipped += count - before - 1;
    if (!(count > before)) this.misplaced++;
    this.#seen[writer] = Math.max(before, count);
  }
}

export function writerName(number: number): string {
  return `writer-${number}`;
}

function numberAfter(line: Buffer, mark: Buffer): number {
  const at = line.indexOf(mark);
  return at < 0 ? Number.NaN : Number.parseInt(line.toString("latin1", at + mark.length, at + mark.length + 20), 10);
}

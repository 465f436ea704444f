import type { Writable } from "node:stream";
import type { ByteSink } from "../../request/exchange.ts";

/** The body of a streamed response. `end` asks its writer to finish when the server drains. */
export class StreamSink implements ByteSink {
  readonly #target: Writable;
  readonly #controller = new AbortController();
  #closed = false;
  #full = false;
  #waiting: (() => void)[] = [];

  constructor(target: Writable) {
    this.#target = target;
    target.on("drain", () => {
      this.#full = false;
      this.#wake();
    });
    target.once("close", () => this.close());
    if (target.destroyed) this.close();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get backlogBytes(): number {
    return this.#closed ? 0 : this.#target.writableLength;
  }

  write(chunk: Uint8Array): boolean {
    if (this.#closed || this.#target.destroyed || this.#target.writableEnded) return true;
    this.#full = !this.#target.write(chunk);
    return !this.#full;
  }

  drained(): Promise<void> {
    if (this.#closed || !this.#full) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Asks the writer to finish, because the server is draining. Its last writes are still sent. */
  end(): void {
    this.#controller.abort();
  }

  /** Discards all further writes. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#controller.abort();
    this.#wake();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

import type { ByteSink } from "../request/exchange.ts";

/** Number of unread bytes above which the writer waits. */
const backlogBytesMax = 1024 * 1024;

/** A body that one part of this process writes and another reads. */
export class BodyPipe implements ByteSink {
  readonly #controller = new AbortController();
  #chunks: Uint8Array[] = [];
  #backlogBytes = 0;
  #isWritten = false;
  /** Set while the reader waits for a chunk or the end. */
  #wakeReader: (() => void) | undefined;
  #wakeWriters: (() => void)[] = [];

  /** @param signal aborts when the reader gives up */
  constructor(signal: AbortSignal) {
    const abort = () => this.#close(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    this.signal.addEventListener("abort", () => signal.removeEventListener("abort", abort), { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get backlogBytes(): number {
    return this.#backlogBytes;
  }

  write(chunk: Uint8Array): boolean {
    if (this.signal.aborted) return false;
    this.#chunks.push(chunk);
    this.#backlogBytes += chunk.length;
    this.#wakeReader?.();
    return this.#backlogBytes <= backlogBytesMax;
  }

  drained(): Promise<void> {
    if (this.#backlogBytes === 0 || this.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => this.#wakeWriters.push(resolve));
  }

  /** Yields everything that `writing` writes until it is done, and throws its error. Leaving the loop ends the writer. */
  async *read(writing: Promise<void>): AsyncGenerator<Uint8Array, void> {
    let failure: { readonly error: unknown } | undefined;
    writing
      .catch((error: unknown) => (failure = { error }))
      .finally(() => {
        this.#isWritten = true;
        this.#wakeReader?.();
      });
    try {
      for (;;) {
        const chunks = this.#take();
        for (const chunk of chunks) yield chunk;
        this.signal.throwIfAborted();
        if (this.#chunks.length > 0) continue;
        if (this.#isWritten) break;
        await new Promise<void>((resolve) => (this.#wakeReader = resolve));
        this.#wakeReader = undefined;
      }
    } finally {
      this.#close(new Error("the reader stopped"));
    }
    if (failure !== undefined) throw failure.error;
  }

  #take(): Uint8Array[] {
    const chunks = this.#chunks;
    this.#chunks = [];
    this.#backlogBytes = 0;
    for (const wake of this.#wakeWriters.splice(0)) wake();
    return chunks;
  }

  #close(reason: unknown): void {
    if (this.signal.aborted) return;
    this.#controller.abort(reason);
    this.#take();
    this.#wakeReader?.();
  }
}

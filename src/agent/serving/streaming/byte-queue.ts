/** Bytes that wait for their reader. Above this, a writer waits too. */
export const queuedBytesMax = 64 * 1024;

/** A queue of bytes between a connection and the reader of one of its streams. */
export class ByteQueue implements AsyncIterable<Uint8Array> {
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #isEnded = false;
  #isAbandoned = false;
  #wakeReader: (() => void) | undefined;
  #room: PromiseWithResolvers<void> | undefined;

  /** Adds bytes. Resolves when the queue has room for more. */
  push(chunk: Uint8Array): Promise<void> {
    if (this.#isEnded || this.#isAbandoned || chunk.byteLength === 0) return Promise.resolve();
    this.#chunks.push(chunk);
    this.#bytes += chunk.byteLength;
    this.#wakeReader?.();
    if (this.#bytes <= queuedBytesMax) return Promise.resolve();
    this.#room ??= Promise.withResolvers<void>();
    return this.#room.promise;
  }

  /** Ends the queue. Its bytes can still be read. */
  end(): void {
    this.#isEnded = true;
    this.#wakeReader?.();
    this.#makeRoom();
  }

  /** Discards what is queued and what is still to come. */
  abandon(): void {
    this.#isAbandoned = true;
    this.#chunks = [];
    this.#bytes = 0;
    this.end();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    try {
      for (;;) {
        const chunk = this.#chunks.shift();
        if (chunk !== undefined) {
          this.#bytes -= chunk.byteLength;
          if (this.#bytes <= queuedBytesMax) this.#makeRoom();
          yield chunk;
          continue;
        }
        if (this.#isEnded) return;
        await new Promise<void>((resolve) => {
          this.#wakeReader = resolve;
        });
        this.#wakeReader = undefined;
      }
    } finally {
      this.abandon();
    }
  }

  #makeRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }
}

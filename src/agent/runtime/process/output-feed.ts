import type { LogStream } from "../log-file/log-writer.ts";
import { type ProcessStreams, RuntimeError } from "../runtime.ts";

/** Bytes that wait for a client. A client that falls further behind is dropped, so that it cannot stop a container. */
const waitingBytesMax = 4 * 1024 * 1024;

/** Copies the output of a process to the clients that are attached to it. */
export class OutputFeed {
  readonly #readers = new Set<FeedReader>();

  publish(stream: LogStream, chunk: Uint8Array): void {
    for (const reader of this.#readers) reader.take(stream, chunk);
  }

  /** Tells the readers that the process has ended. They still receive everything before that. */
  end(): void {
    for (const reader of this.#readers) reader.end();
    this.#readers.clear();
  }

  /** Sends output to the streams until the process ends, the signal is aborted, or the client is too slow. */
  async follow(streams: ProcessStreams, signal: AbortSignal): Promise<void> {
    const reader = new FeedReader(streams);
    const stop = () => reader.end();
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) return;
    this.#readers.add(reader);
    try {
      await reader.ended;
    } finally {
      this.#readers.delete(reader);
      signal.removeEventListener("abort", stop);
    }
  }
}

/** Hands chunks to the streams of a client one after the other. */
export class FeedReader {
  readonly #streams: ProcessStreams;
  readonly #end = Promise.withResolvers<void>();
  #waitingBytes = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(streams: ProcessStreams) {
    this.#streams = streams;
  }

  /** Resolves after the end when everything has been handed over. Rejects if the client is gone or too slow. */
  get ended(): Promise<void> {
    return this.#end.promise;
  }

  take(stream: LogStream, chunk: Uint8Array): void {
    const sink = this.#streams[stream];
    if (sink === undefined) return;
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes > waitingBytesMax) {
      const message = `the client is more than ${waitingBytesMax} bytes behind`;
      this.#end.reject(new RuntimeError("ClientTooSlow", message, "ResourceExhausted"));
      return;
    }
    this.#last = this.#last
      .then(() => sink(chunk))
      .then(() => {
        this.#waitingBytes -= chunk.length;
      })
      .catch(this.#end.reject);
  }

  end(): void {
    void this.#last.then(this.#end.resolve);
  }
}

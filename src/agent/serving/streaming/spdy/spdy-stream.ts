import { ByteQueue } from "../byte-queue.ts";
import type { Headers } from "./header-codec.ts";

/** Bytes of one data frame that we send. */
const dataBytesMax = 32 * 1024;

/** The part of a connection that its streams need. */
export interface StreamWriter {
  data(streamId: number, payload: Uint8Array, isLast: boolean): Promise<void>;
  reset(streamId: number): void;
  /** Called when both sides have ended. */
  closed(streamId: number): void;
}

/** A stream that the client has opened. */
export class SpdyStream {
  readonly id: number;
  readonly headers: Headers;
  readonly #writer: StreamWriter;
  readonly #input = new ByteQueue();
  #isReadEnded = false;
  #isWriteEnded: boolean;

  constructor(id: number, headers: Headers, writer: StreamWriter, isUnidirectional: boolean) {
    this.id = id;
    this.headers = headers;
    this.#writer = writer;
    this.#isWriteEnded = isUnidirectional;
  }

  /** The client's bytes. Leaving the loop discards the rest. */
  get input(): AsyncIterable<Uint8Array> {
    return this.#input;
  }

  /** Resolves when there is room for more. Writes after the end are discarded. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.byteLength && !this.#isWriteEnded; at += dataBytesMax) {
      await this.#writer.data(this.id, bytes.subarray(at, at + dataBytesMax), false);
    }
  }

  /** Ends our side. */
  end(): void {
    if (this.#isWriteEnded) return;
    this.#isWriteEnded = true;
    this.#writer.data(this.id, new Uint8Array(), true).catch(() => {});
    this.#closeIfDone();
  }

  /** Ends both sides and discards what is unread. */
  reset(): void {
    if (this.#isReadEnded && this.#isWriteEnded) return;
    this.#writer.reset(this.id);
    this.close();
  }

  /** Discards what the client sends from now on. */
  discardInput(): void {
    this.#input.abandon();
  }

  /** Adds bytes from the client. Resolves when there is room for more. */
  receive(bytes: Uint8Array, isLast: boolean): Promise<void> {
    const room = this.#input.push(bytes);
    if (isLast) this.receiveEnd();
    return room;
  }

  receiveEnd(): void {
    this.#isReadEnded = true;
    this.#input.end();
    this.#closeIfDone();
  }

  /** Closes the stream because the connection or the client has. Bytes that have arrived can still be read. */
  close(): void {
    this.#isWriteEnded = true;
    this.receiveEnd();
  }

  #closeIfDone(): void {
    if (this.#isReadEnded && this.#isWriteEnded) this.#writer.closed(this.id);
  }
}

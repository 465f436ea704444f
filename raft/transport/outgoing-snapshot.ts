import { createHash, randomUUID } from "node:crypto";
import type { InstallSnapshot } from "../core/message.ts";
import type { Connection } from "./connection.ts";
import { chunkBytesMax, decodeSnapshotFrame, encodeSnapshotFrame, windowBytes } from "./snapshot-frames.ts";
import type { HandshakeRefusal } from "./transport.ts";

/** Time without progress after which a transfer is abandoned. The core requests another one. */
const stalledMsMax = 30_000;
const retryMs = 100;

export interface OutgoingSnapshotOptions {
  readonly message: InstallSnapshot;
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly bytesPerSecond: number;
  readonly dial: (closed: () => void) => Promise<Connection | HandshakeRefusal>;
  readonly isCancelled: () => boolean;
}

interface SentChunk {
  readonly offset: number;
  readonly bytes: Buffer;
}

/** Streams one snapshot, over as many connections as it takes. */
export class OutgoingSnapshot {
  readonly #options: OutgoingSnapshotOptions;
  readonly #transfer = randomUUID();
  readonly #digest = createHash("sha256");
  readonly #source: AsyncIterator<Uint8Array>;
  /** Chunks read from the source and not yet taken by the receiver, which are sent again after a break. */
  #window: SentChunk[] = [];
  #rest: Buffer = Buffer.alloc(0);
  #length = 0;
  #sourceEnded = false;
  #takenOffset = 0;
  #progressAtMs = performance.now();
  #sendNotBeforeMs = 0;
  #wake = () => {};

  constructor(options: OutgoingSnapshotOptions) {
    this.#options = options;
    this.#source = options.chunks[Symbol.asyncIterator]();
  }

  /** Runs the transfer. @throws if the receiver fails, refuses, or cannot be reached for too long */
  async run(): Promise<void> {
    try {
      while (!(await this.#attempt())) {
        if (this.#options.isCancelled()) throw new Error("the transport was closed");
        if (performance.now() - this.#progressAtMs > stalledMsMax) throw new Error("the receiver cannot be reached");
        await sleep(retryMs);
      }
    } finally {
      await this.#source.return?.();
    }
  }

  /** Tries one connection. Returns true when the snapshot is installed, and false when the connection broke. */
  async #attempt(): Promise<boolean> {
    let result: "installed" | { readonly failed: string } | undefined;
    let resumeAt: number | undefined;
    const connection = await this.#options.dial(() => this.#wake()).catch(() => undefined);
    if (typeof connection === "string") throw new Error(`the receiver refuses us: ${connection}`);
    if (connection === undefined) return false;
    connection.handOver({
      closed: () => this.#wake(),
      frame: (received) => {
        if (received.length === 0) return;
        const frame = decodeSnapshotFrame(received.whole());
        if (frame.kind === "resume") resumeAt = frame.offset;
        if (frame.kind === "taken") this.#taken(frame.offset);
        if (frame.kind === "installed") result = "installed";
        if (frame.kind === "failed") result = { failed: frame.reason };
        this.#wake();
      },
    });
    const over = () => !connection.isOpen || result !== undefined || this.#options.isCancelled();
    try {
      const { message } = this.#options;
      connection.writeFrame(encodeSnapshotFrame({ kind: "begin", transfer: this.#transfer, message }));
      await this.#until(() => over() || resumeAt !== undefined);
      // The receiver restarted, and the data that it lost is no longer here either.
      if (resumeAt !== undefined && resumeAt < this.#windowOffset) throw new Error("the receiver has restarted");
      for (const chunk of this.#window) {
        if (chunk.offset >= (resumeAt ?? 0) && !over()) await this.#write(connection, chunk);
      }
      while (!over()) {
        await this.#until(() => over() || this.#length - this.#takenOffset < windowBytes);
        const chunk = over() ? undefined : await this.#read();
        if (chunk === undefined) break;
        await this.#write(connection, chunk);
      }
      if (!over()) {
        const digest = this.#digest.copy().digest();
        connection.writeFrame(encodeSnapshotFrame({ kind: "end", length: this.#length, digest }));
      }
      await this.#until(over);
    } finally {
      connection.close();
    }
    if (typeof result === "object") throw new Error(`the receiver failed: ${(result as { failed: string }).failed}`);
    return result === "installed";
  }

  async #read(): Promise<SentChunk | undefined> {
    while (this.#rest.length === 0 && !this.#sourceEnded) {
      const { value, done } = await this.#source.next();
      if (done === true) this.#sourceEnded = true;
      else this.#rest = Buffer.from(value);
    }
    if (this.#rest.length === 0) return undefined;
    const chunk = { offset: this.#length, bytes: this.#rest.subarray(0, chunkBytesMax) };
    this.#rest = this.#rest.subarray(chunk.bytes.length);
    this.#length += chunk.bytes.length;
    this.#digest.update(chunk.bytes);
    this.#window.push(chunk);
    return chunk;
  }

  async #write(connection: Connection, chunk: SentChunk): Promise<void> {
    const now = performance.now();
    if (this.#sendNotBeforeMs > now) await sleep(this.#sendNotBeforeMs - now);
    this.#sendNotBeforeMs =
      Math.max(now, this.#sendNotBeforeMs) + (1000 * chunk.bytes.length) / this.#options.bytesPerSecond;
    connection.writeFrame(encodeSnapshotFrame({ kind: "chunk", ...chunk }));
    await connection.drained();
  }

  /** Offset of the oldest byte that can be sent again. */
  get #windowOffset(): number {
    return this.#window[0]?.offset ?? this.#length;
  }

  #taken(offset: number): void {
    if (offset > this.#takenOffset) this.#progressAtMs = performance.now();
    this.#takenOffset = Math.max(this.#takenOffset, Math.min(offset, this.#length));
    this.#window = this.#window.filter((chunk) => chunk.offset + chunk.bytes.length > this.#takenOffset);
  }

  /** Waits for a condition. Checks it after each input and at intervals, and gives up on a silent receiver. */
  async #until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      if (performance.now() - this.#progressAtMs > stalledMsMax) throw new Error("the receiver makes no progress");
      await Promise.race([sleep(retryMs), new Promise<void>((resolve) => (this.#wake = resolve))]);
    }
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

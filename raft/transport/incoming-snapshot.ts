import { createHash, timingSafeEqual } from "node:crypto";
import type { InstallSnapshot } from "../core/message.ts";
import { ProtocolError } from "./byte-reader.ts";
import type { Connection } from "./connection.ts";
import { decodeSnapshotFrame, encodeSnapshotFrame, type SnapshotFrame, windowBytes } from "./snapshot-frames.ts";

/** Time that a transfer waits for a new connection after the old one broke. */
const resumeMsMax = 10_000;

/** One incoming snapshot, over as many connections as it takes. */
export class IncomingSnapshot {
  readonly transfer: string;
  readonly #digest = createHash("sha256");
  #queue: Buffer[] = [];
  #receivedOffset = 0;
  #takenOffset = 0;
  #ended = false;
  #failure: Error | undefined;
  #result: SnapshotFrame | undefined;
  #connection: Connection | undefined;
  #wake = () => {};
  #giveUp: ReturnType<typeof setTimeout> | undefined;

  /** @param install takes the chunks and resolves when the snapshot is installed */
  constructor(
    transfer: string,
    message: InstallSnapshot,
    install: (message: InstallSnapshot, chunks: AsyncIterable<Uint8Array>) => Promise<void>,
  ) {
    this.transfer = transfer;
    void this.#install(install(message, this.#chunks()));
  }

  /** Takes over a connection for this transfer and closes the old one. The sender sends the missing frames again. */
  attach(connection: Connection): void {
    clearTimeout(this.#giveUp);
    const before = this.#connection;
    this.#connection = connection;
    before?.close();
    connection.handOver({
      closed: () => this.#detached(connection),
      frame: (frame) => {
        if (frame.length === 0) return connection.ping();
        if (this.#connection !== connection) return;
        this.#take(decodeSnapshotFrame(frame.whole()));
      },
    });
    this.#reply({ kind: "resume", offset: this.#receivedOffset });
    // Replies on the old connection may be lost, and the sender never sends more than a window ahead of them.
    if (this.#takenOffset > 0) this.#reply({ kind: "taken", offset: this.#takenOffset });
    if (this.#result !== undefined) this.#reply(this.#result);
  }

  /** Ends the transfer because another replaces it or the transport closes. */
  abort(reason: string): void {
    clearTimeout(this.#giveUp);
    this.#fail(new Error(reason));
    this.#connection?.close();
  }

  #take(frame: SnapshotFrame): void {
    if (frame.kind === "chunk") {
      if (frame.offset !== this.#receivedOffset || this.#ended)
        throw new ProtocolError("a part of a snapshot is missing");
      if (this.#receivedOffset - this.#takenOffset > 2 * windowBytes)
        throw new ProtocolError("a snapshot arrives too fast");
      this.#receivedOffset += frame.bytes.length;
      this.#digest.update(frame.bytes);
      this.#queue.push(frame.bytes);
      this.#wake();
    } else if (frame.kind === "end") {
      this.#end(frame.length, frame.digest);
    } else {
      throw new ProtocolError(`${frame.kind} is for the sender of a snapshot`);
    }
  }

  #end(length: number, digest: Buffer): void {
    if (this.#ended) return;
    if (length !== this.#receivedOffset) throw new ProtocolError("a part of a snapshot is missing");
    if (!timingSafeEqual(this.#digest.digest(), digest))
      this.#fail(new Error("the snapshot differs from the one that was sent"));
    this.#ended = true;
    this.#wake();
  }

  async *#chunks(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = this.#queue.shift();
      if (this.#failure !== undefined) throw this.#failure;
      if (chunk !== undefined) {
        this.#takenOffset += chunk.length;
        yield chunk;
        this.#reply({ kind: "taken", offset: this.#takenOffset });
      } else if (this.#ended) {
        return;
      } else {
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    }
  }

  async #install(installing: Promise<void>): Promise<void> {
    try {
      await installing;
      this.#result = { kind: "installed" };
    } catch (error) {
      this.#result = { kind: "failed", reason: (error as Error).message };
    }
    this.#reply(this.#result);
  }

  #reply(frame: SnapshotFrame): void {
    this.#connection?.writeFrame(encodeSnapshotFrame(frame));
  }

  #detached(connection: Connection): void {
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    this.#giveUp = setTimeout(() => this.#fail(new Error("the sender cannot be reached")), resumeMsMax);
  }

  #fail(error: Error): void {
    if (this.#ended && this.#failure === undefined && this.#result !== undefined) return;
    this.#failure ??= error;
    this.#wake();
  }
}

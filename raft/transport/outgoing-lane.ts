import type { MemberId } from "../core/ids.ts";
import type { Message } from "../core/message.ts";
import { ByteWriter } from "./byte-writer.ts";
import type { Connection } from "./connection.ts";
import { encodeMessage } from "./message-codec.ts";
import type { HandshakeRefusal, TransportEvents } from "./transport.ts";

const backoffMsMin = 20;
const backoffMsMax = 1000;

/** Target size of a write: large enough that calls cost little, small enough for the processor's cache. */
const writeBytesWanted = 128 << 10;

/** Connects a lane. Resolves with a connection after the handshake, or with the reason for a refusal. */
export type Dial = (closed: () => void) => Promise<Connection | HandshakeRefusal>;

export interface LaneOptions {
  readonly member: MemberId;
  readonly queueBytesMax: number;
  readonly dial: Dial;
  readonly events: TransportEvents;
}

/**
 * The messages of one kind to one member, over one connection that is restored when it breaks. One write is under way
 * at a time, in memory that the next write reuses. Later messages wait unencoded.
 */
export class OutgoingLane {
  readonly #options: LaneOptions;
  readonly #bytes = new ByteWriter();
  #connection: Connection | undefined;
  #writing = false;
  #waiting: Message[] = [];
  #waitingBytes = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #backoffMs = backoffMsMin;
  #closed = false;

  constructor(options: LaneOptions) {
    this.#options = options;
    void this.#connect();
  }

  /** Bytes waiting here or in the socket. */
  get queuedBytes(): number {
    return this.#waitingBytes + (this.#connection?.pendingBytes ?? 0);
  }

  /** Sends messages. Drops the first one that does not fit and all after it. */
  send(messages: readonly Message[]): void {
    if (this.#connection === undefined) return this.#drop(messages, "notConnected");
    const fitting = this.#takeFitting(messages);
    if (!this.#writing) this.#writeNext(this.#connection);
    if (fitting < messages.length) this.#drop(messages.slice(fitting), "queueFull");
  }

  /** Pings the peer and closes a connection that has been silent too often. Called once per interval. */
  ping(silentTurnsMax: number): void {
    this.#connection?.countSilence(silentTurnsMax);
    this.#connection?.ping();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#retry);
    this.#connection?.close();
  }

  #takeFitting(messages: readonly Message[]): number {
    let room = this.#options.queueBytesMax - this.queuedBytes;
    let count = 0;
    for (const message of messages) {
      const bytes = bytesAtMost(message);
      if (bytes > room) break;
      room -= bytes;
      count++;
      this.#waiting.push(message);
      this.#waitingBytes += bytes;
    }
    return count;
  }

  /** Writes as many waiting messages as make a write of a good size. */
  #writeNext(connection: Connection): void {
    const [first] = this.#waiting;
    this.#writing = first !== undefined;
    if (first === undefined) return;
    this.#bytes.reset(bytesAtMost(first));
    let count = 0;
    for (const message of this.#waiting) {
      if (this.#bytes.length >= writeBytesWanted) break;
      this.#waitingBytes -= bytesAtMost(message);
      writeFrame(message, this.#bytes);
      count++;
    }
    if (count === this.#waiting.length) this.#waiting = [];
    else this.#waiting.splice(0, count);
    connection.writeFrames(this.#bytes.view(), () => {
      if (this.#connection === connection) this.#writeNext(connection);
    });
  }

  #drop(messages: readonly Message[], reason: "notConnected" | "queueFull"): void {
    for (const message of messages) this.#options.events.dropped(message, reason);
  }

  async #connect(): Promise<void> {
    const outcome = await this.#options.dial(() => this.#disconnected()).catch(() => undefined);
    if (this.#closed) {
      if (typeof outcome === "object") outcome.close();
      return;
    }
    if (typeof outcome === "object" && outcome.isOpen) {
      this.#connection = outcome;
      this.#backoffMs = backoffMsMin;
      return;
    }
    if (typeof outcome === "string") this.#options.events.refused(this.#options.member, outcome);
    this.#retryLater();
  }

  #disconnected(): void {
    if (this.#connection === undefined) return;
    this.#connection = undefined;
    const unsent = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#writing = false;
    this.#drop(unsent, "notConnected");
    if (this.#closed) return;
    this.#options.events.disconnected(this.#options.member);
    this.#retryLater();
  }

  /** Retries with jitter, so that members that lost each other at the same time do not reconnect at the same time. */
  #retryLater(): void {
    const delayMs = this.#backoffMs * (0.5 + Math.random());
    this.#backoffMs = Math.min(backoffMsMax, 2 * this.#backoffMs);
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => void this.#connect(), delayMs);
  }
}

/** Encodes complete frames with their lengths, without gaps. */
export function encodeFrames(messages: readonly Message[]): Buffer {
  const bytes = new ByteWriter(messages.reduce((sum, message) => sum + bytesAtMost(message), 0));
  for (const message of messages) writeFrame(message, bytes);
  return bytes.take();
}

function writeFrame(message: Message, to: ByteWriter): void {
  const start = to.length;
  to.u32(0);
  encodeMessage(message, to);
  to.patchLength(start);
}

const fieldsBytesMax = 96;
const entryFieldsBytesMax = 16;

function bytesAtMost(message: Message): number {
  if (message.type === "propose") return fieldsBytesMax + message.data.length;
  if (message.type !== "append") return fieldsBytesMax;
  let bytes = fieldsBytesMax;
  for (const { data } of message.entries) bytes += entryFieldsBytesMax + data.length;
  return bytes;
}

import type { MemberId } from "../core/ids.ts";
import type { Message } from "../core/message.ts";
import { ByteWriter } from "./byte-writer.ts";
import type { Connection } from "./connection.ts";
import { encodeMessage } from "./message-codec.ts";
import type { HandshakeRefusal, TransportEvents } from "./transport.ts";

const backoffMsMin = 20;
const backoffMsMax = 1000;

const writeBytesWanted = 64 << 10;

/** How a lane gets its connection: handshake done, or the reason why not. */
export type Dial = (closed: () => void) => Promise<Connection | HandshakeRefusal>;

export interface LaneOptions {
  readonly member: MemberId;
  readonly queueBytesMax: number;
  readonly dial: Dial;
  readonly events: TransportEvents;
}

/** The messages of one kind to one member: over one connection, which is made anew when it breaks. */
export class OutgoingLane {
  readonly #options: LaneOptions;
  #connection: Connection | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #backoffMs = backoffMsMin;
  #closed = false;

  constructor(options: LaneOptions) {
    this.#options = options;
    void this.#connect();
  }

  /** All in one write. What does not fit is dropped, and what comes behind it in the list as well. */
  send(messages: readonly Message[]): void {
    const connection = this.#connection;
    if (connection === undefined) return this.#drop(messages, "notConnected");
    const fitting = this.#fitting(messages, this.#options.queueBytesMax - connection.pendingBytes);
    for (let from = 0; from < fitting; ) {
      const to = writeEnd(messages, from, fitting);
      connection.writeFrames(framesOf(messages, from, to));
      from = to;
    }
    if (fitting < messages.length) this.#drop(messages.slice(fitting), "queueFull");
  }

  /** Called at an interval: a connection on which nothing came back so often is closed. */
  ping(silentTurnsMax: number): void {
    this.#connection?.countSilence(silentTurnsMax);
    this.#connection?.ping();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#retry);
    this.#connection?.close();
  }

  #fitting(messages: readonly Message[], room: number): number {
    let bytes = 0;
    const tooMany = messages.findIndex((message) => {
      bytes += bytesAtMost(message);
      return bytes > room;
    });
    return tooMany < 0 ? messages.length : tooMany;
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
    if (this.#closed) return;
    this.#options.events.disconnected(this.#options.member);
    this.#retryLater();
  }

  /** With jitter, so that members that lost each other at once do not meet at once. */
  #retryLater(): void {
    const delayMs = this.#backoffMs * (0.5 + Math.random());
    this.#backoffMs = Math.min(backoffMsMax, 2 * this.#backoffMs);
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => void this.#connect(), delayMs);
  }
}

/** As many messages as make one write of a good size: beyond it, memory that is new each time costs more than the calls. */
function writeEnd(messages: readonly Message[], from: number, end: number): number {
  let to = from;
  for (let bytes = 0; to < end && (to === from || bytes < writeBytesWanted); to++) bytes += bytesAtMost(messages[to]);
  return to;
}

function framesOf(messages: readonly Message[], from: number, to: number): Buffer {
  const some = messages.slice(from, to);
  const bytes = new ByteWriter(some.reduce((sum, message) => sum + bytesAtMost(message), 0));
  for (const message of some) {
    const start = bytes.length;
    bytes.u32(0);
    encodeMessage(message, bytes);
    bytes.patchLength(start);
  }
  return bytes.take();
}

const fieldsBytesMax = 96;
const entryFieldsBytesMax = 16;

function bytesAtMost(message: Message | undefined): number {
  if (message === undefined) return 0;
  if (message.type === "propose") return fieldsBytesMax + message.data.length;
  if (message.type !== "append") return fieldsBytesMax;
  let bytes = fieldsBytesMax;
  for (const { data } of message.entries) bytes += entryFieldsBytesMax + data.length;
  return bytes;
}

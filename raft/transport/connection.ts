import type { TLSSocket } from "node:tls";
import { type Frame, FrameReader } from "./frame.ts";

export interface ConnectionEvents {
  /** Handles a frame. @throws to have the connection closed */
  frame(frame: Frame): void;
  closed(): void;
}

const emptyFrame = Buffer.alloc(4);

/** Frames over a socket. A peer that vanished silently is noticed long before TCP gives up: see `ping`. */
export class Connection {
  readonly #socket: TLSSocket;
  #events: ConnectionEvents;
  #pendingBytes = 0;
  #silentTurns = 0;
  #drained: (() => void)[] = [];
  readonly #whenClosed: ((violation: Error | undefined) => void)[] = [];
  #open = true;

  constructor(socket: TLSSocket, frameBytesMax: number, events: ConnectionEvents) {
    this.#socket = socket;
    this.#events = events;
    const frames = new FrameReader(frameBytesMax);
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.#read(frames, chunk));
    socket.on("error", () => this.close());
    socket.on("close", () => this.close());
  }

  get isOpen(): boolean {
    return this.#open;
  }

  /** Adds a listener for the close, which gets the error if the other side violated the protocol. */
  whenClosed(listener: (violation: Error | undefined) => void): void {
    this.#whenClosed.push(listener);
  }

  /** Bytes given to the socket and not yet to the kernel. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** Passes the connection to another handler after the handshake. */
  handOver(events: ConnectionEvents): void {
    this.#events = events;
  }

  /**
   * @param frames complete frames with their lengths, without gaps
   * @param written called when the bytes are no longer needed, but not if the connection closes before
   */
  writeFrames(frames: Buffer, written?: () => void): void {
    if (!this.#open) return;
    const { length } = frames;
    this.#pendingBytes += length;
    this.#socket.write(frames, () => {
      this.#pendingBytes -= length;
      if (this.#pendingBytes === 0) this.#wakeDrained();
      if (this.#open) written?.();
    });
  }

  writeFrame(body: Buffer): void {
    const length = Buffer.allocUnsafe(4);
    length.writeUInt32LE(body.length);
    this.writeFrames(Buffer.concat([length, body]));
  }

  /** Resolves when no bytes are pending, or the connection is closed. */
  async drained(): Promise<void> {
    if (!this.#open || this.#pendingBytes === 0) return;
    await new Promise<void>((resolve) => this.#drained.push(resolve));
  }

  /** Counts intervals without input and closes the connection at the limit. Called once per interval. */
  countSilence(turnsMax: number): void {
    if (this.#silentTurns >= turnsMax) this.close();
    this.#silentTurns++;
  }

  /** Sends an empty frame. The side that connected sends one per interval, and the other side returns it. */
  ping(): void {
    this.writeFrames(emptyFrame);
  }

  close(violation?: Error): void {
    if (!this.#open) return;
    this.#open = false;
    this.#socket.destroy();
    this.#wakeDrained();
    for (const listener of this.#whenClosed) listener(violation);
    this.#events.closed();
  }

  /** Sends pending bytes, then closes. */
  end(): void {
    this.#socket.end(() => this.close());
  }

  #read(frames: FrameReader, chunk: Buffer): void {
    this.#silentTurns = 0;
    try {
      frames.push(chunk, (frame) => {
        if (this.#open) this.#events.frame(frame);
      });
    } catch (error) {
      this.close(error as Error);
    }
  }

  #wakeDrained(): void {
    for (const resolve of this.#drained.splice(0)) resolve();
  }
}

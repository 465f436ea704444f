import { ByteQueue } from "../byte-queue.ts";
import type { Link } from "../link.ts";
import { type ControlFrame, controlFrame, dataFrame, type Frame, FrameReader, frameTypes, words } from "./frame.ts";
import { HeaderCodec, type Headers } from "./header-codec.ts";

/** The client's side of a SPDY connection, frame by frame, over a link without a network. */
export class SpdyClient {
  readonly #toServer = new ByteQueue();
  readonly #codec = new HeaderCodec();
  readonly #reader = new FrameReader();
  readonly #closed = new AbortController();
  /** Frames that the server has sent. */
  readonly frames: Frame[] = [];
  #nextId = 1;
  /** Called before each write of the server, which it delays. */
  stall: Promise<void> | undefined;

  /** The server's end. */
  readonly link: Link = {
    input: this.#toServer,
    signal: this.#closed.signal,
    write: async (bytes) => {
      await this.stall;
      this.receive(bytes);
    },
  };

  /** Takes bytes of the server. */
  receive(bytes: Uint8Array): void {
    this.frames.push(...this.#reader.read(bytes));
  }

  /** Sends bytes as they are. Resolves when the server has room for more. */
  send(bytes: Uint8Array): Promise<void> {
    return this.#toServer.push(bytes);
  }

  async open(headers: Headers, flags = 0, id = this.#nextId): Promise<number> {
    this.#nextId = id + 2;
    const block = await this.#codec.encode(headers);
    await this.send(controlFrame("synStream", Buffer.concat([words(id, 0), Buffer.alloc(2), block]), flags));
    return id;
  }

  data(id: number, text: string, isLast = false): Promise<void> {
    return this.send(dataFrame(id, Buffer.from(text), isLast));
  }

  /** Ends the connection without a word. */
  leave(): void {
    this.#toServer.end();
    this.#closed.abort();
  }

  /** Returns all that the server has written in a stream. */
  textOf(id: number): string {
    const parts = this.frames.flatMap((frame) =>
      frame.kind === "data" && frame.streamId === id ? [frame.payload] : [],
    );
    return Buffer.concat(parts).toString();
  }

  hasEnded(id: number): boolean {
    return this.frames.some((frame) => frame.kind === "data" && frame.streamId === id && frame.isLast);
  }

  /** Returns the control frames of a type that the server has sent. */
  controls(type: keyof typeof frameTypes): readonly ControlFrame[] {
    return this.frames.filter(
      (frame): frame is ControlFrame => frame.kind === "control" && frame.type === frameTypes[type],
    );
  }
}

import type { Socket } from "bun";
import { FrameError, type FrameKind, FrameReader } from "./frame.ts";

/** Frames up to this size are joined into one write; copying a larger one would cost more than another write. */
const joinedBytesMax = 64 * 1024;

/** The operating system's end of a local connection. `write` returns the number of bytes that it has taken. */
export interface ByteSocket {
  write(bytes: Uint8Array): number;
  end(): void;
}

export interface FrameSocketEvents {
  /** The payload is valid during the call only. */
  frame(kind: FrameKind, payload: Buffer): void;
  /** Everything that was sent has left this process. */
  drained?(): void;
  closed(): void;
}

/** One end of a local connection that carries frames. The frames of one turn of the event loop leave in one write. */
export class FrameSocket {
  readonly #events: FrameSocketEvents;
  readonly #reader: FrameReader;
  #socket: ByteSocket | undefined;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  /** Number of bytes of the first waiting frame that have left. */
  #sentBytes = 0;
  #isScheduled = false;
  #isFull = false;
  #isClosed = false;

  constructor(events: FrameSocketEvents) {
    this.#events = events;
    this.#reader = new FrameReader((kind, payload) => events.frame(kind, payload));
  }

  /** Bytes that the other side has not taken yet. */
  get backlogBytes(): number {
    return this.#waitingBytes - this.#sentBytes;
  }

  send(frame: Uint8Array): void {
    if (this.#isClosed) return;
    this.#waiting.push(frame);
    this.#waitingBytes += frame.byteLength;
    if (this.#isScheduled || this.#isFull) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#flush();
    });
  }

  /** Forgets all frames of which nothing has left. */
  dropBacklog(): void {
    const [first] = this.#waiting;
    this.#waiting = first === undefined || this.#sentBytes === 0 ? [] : [first];
    this.#waitingBytes = this.#waiting[0]?.byteLength ?? 0;
  }

  close(): void {
    this.#socket?.end();
    this.closed();
  }

  /** For the handler of the socket, like the next three. */
  opened(socket: ByteSocket): void {
    this.#socket = socket;
    this.#flush();
  }

  received(chunk: Uint8Array): void {
    if (this.#isClosed) return;
    try {
      this.#reader.push(chunk);
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.close();
    }
  }

  drained(): void {
    this.#isFull = false;
    this.#flush();
  }

  closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#sentBytes = 0;
    this.#events.closed();
  }

  #flush(): void {
    if (this.#socket === undefined || this.#isFull) return;
    while (this.#waiting.length > 0) {
      const part = this.#nextPart();
      const written = this.#socket.write(part);
      this.#take(Math.max(0, written));
      if (written < part.byteLength) {
        this.#isFull = true;
        return;
      }
    }
    this.#events.drained?.();
  }

  /** Returns the bytes of the next write: the rest of a large frame, or several small frames. */
  #nextPart(): Uint8Array {
    const first = this.#waiting[0] as Uint8Array;
    const rest = this.#sentBytes === 0 ? first : first.subarray(this.#sentBytes);
    let bytes = rest.byteLength;
    let count = 1;
    for (; count < this.#waiting.length; count++) {
      const { byteLength } = this.#waiting[count] as Uint8Array;
      if (bytes + byteLength > joinedBytesMax) break;
      bytes += byteLength;
    }
    return count === 1 ? rest : Buffer.concat([rest, ...this.#waiting.slice(1, count)], bytes);
  }

  #take(bytes: number): void {
    this.#sentBytes += bytes;
    let gone = 0;
    while (gone < this.#waiting.length) {
      const { byteLength } = this.#waiting[gone] as Uint8Array;
      if (this.#sentBytes < byteLength) break;
      this.#sentBytes -= byteLength;
      this.#waitingBytes -= byteLength;
      gone++;
    }
    if (gone > 0) this.#waiting.splice(0, gone);
  }
}

interface Data {
  readonly frames: FrameSocket;
}

/** Handlers that pass the events of Bun's sockets to their `FrameSocket`. */
const handlers = {
  data: ({ data }: Socket<Data>, chunk: Uint8Array) => data.frames.received(chunk),
  drain: ({ data }: Socket<Data>) => data.frames.drained(),
  close: ({ data }: Socket<Data>) => data.frames.closed(),
  error: ({ data }: Socket<Data>) => data.frames.closed(),
};

/** Listens on a socket of the file system. Close it by `stop`. */
export function listenForFrames(path: string, accept: () => FrameSocket): { stop(): void } {
  return Bun.listen<Data>({
    unix: path,
    socket: {
      ...handlers,
      open(socket) {
        const frames = accept();
        socket.data = { frames };
        frames.opened(socket);
      },
    },
  });
}

/** Connects to a socket of the file system. @throws Error if nobody listens */
export async function connectFrames(path: string, events: FrameSocketEvents): Promise<FrameSocket> {
  const frames = new FrameSocket(events);
  await Bun.connect<Data>({
    unix: path,
    data: { frames },
    socket: { ...handlers, open: (socket) => frames.opened(socket) },
  });
  return frames;
}

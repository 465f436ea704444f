import { RaftError } from "../../../../raft/index.ts";
import type { Entry } from "../../../api/entry.ts";
import { toRevision } from "../../../api/revision.ts";
import { thrownText } from "../../../process/thrown-text.ts";
import { CompactedError, CorruptEntryError } from "../../store.ts";
import type { LogSource } from "../log-source.ts";
import { EntryList } from "./entry-list.ts";
import { type FrameKind, frameKinds, frameOf, uint32, uint64 } from "./frame.ts";
import { FrameSocket } from "./frame-socket.ts";
import { type HistoryRequest, historyPageMax, type ImageHeader, type Refusal } from "./message.ts";

/** Bytes that a mirror may be behind. Beyond that it gets a new image, once it has read what is on the way. */
const backlogBytesMaxDefault = 64 * 1024 * 1024;
/** Bytes of an image that are encoded ahead of the reader. */
const imageAheadBytes = 1024 * 1024;
const imageChunkBytes = 128 * 1024;
/** Bytes after which a page of history ends. */
const historyPageBytes = 2 * 1024 * 1024;

export interface MirrorSessionParts {
  readonly source: LogSource;
  readonly backlogBytesMax?: number;
  readonly onClosed: () => void;
}

/** The part of an image that is not sent yet, and the frames that follow it. */
interface Image {
  readonly entries: readonly Entry[];
  sent: number;
  readonly behind: Buffer[];
  behindBytes: number;
}

/** The connection to one mirror. */
export class MirrorSession {
  readonly socket: FrameSocket;
  readonly #source: LogSource;
  readonly #backlogBytesMax: number;
  /** The image on its way; undefined when the mirror follows the log. */
  #image: Image | undefined;
  /** Whether the mirror is so far behind that it waits for a new image. Frames are then pointless. */
  #isLost = false;

  constructor({ source, backlogBytesMax = backlogBytesMaxDefault, onClosed }: MirrorSessionParts) {
    this.#source = source;
    this.#backlogBytesMax = backlogBytesMax;
    this.socket = new FrameSocket({
      frame: (kind, payload) => this.#receive(kind, payload),
      drained: () => this.#continue(),
      closed: onClosed,
    });
  }

  /** Sends a frame in its place: behind the image, if one is on its way. */
  send(frame: Buffer): void {
    if (this.#isLost) return;
    const image = this.#image;
    if (image === undefined) this.socket.send(frame);
    else {
      image.behind.push(frame);
      image.behindBytes += frame.byteLength;
    }
    if (this.socket.backlogBytes + (image?.behindBytes ?? 0) <= this.#backlogBytesMax) return;
    this.#isLost = true;
    this.#image = undefined;
    this.socket.dropBacklog();
  }

  /** Sends an image of the current state. The mirror forgets what it has. */
  startOver(): void {
    const { objects, corrupt } = this.#source.state;
    const header: ImageHeader = {
      record: this.#source.state.record(),
      corrupt: [...corrupt.values()].map(({ key, why }) => [key, why]),
    };
    this.socket.dropBacklog();
    this.socket.send(frameOf(frameKinds.imageBegin, Buffer.from(JSON.stringify(header))));
    this.#isLost = false;
    // Entries are immutable, so this list stays the state of this moment.
    this.#image = { entries: objects.scan(""), sent: 0, behind: [], behindBytes: 0 };
    this.#continue();
  }

  #continue(): void {
    if (this.#isLost) return this.startOver();
    const image = this.#image;
    if (image === undefined) return;
    while (image.sent < image.entries.length) {
      if (this.socket.backlogBytes >= imageAheadBytes) return;
      const list = new EntryList();
      while (image.sent < image.entries.length && list.bytes < imageChunkBytes) {
        list.add(image.entries[image.sent++] as Entry);
      }
      this.socket.send(frameOf(frameKinds.imageEntries, ...list.parts));
    }
    this.#image = undefined;
    this.socket.send(frameOf(frameKinds.imageEnd));
    for (const frame of image.behind) this.socket.send(frame);
  }

  #receive(kind: FrameKind, payload: Buffer): void {
    const id = payload.readUInt32BE();
    const body = payload.subarray(4);
    switch (kind) {
      case frameKinds.propose:
        return this.#propose(id, body);
      case frameKinds.readIndex:
        return this.#readIndex(id);
      case frameKinds.history:
        this.#readHistory(JSON.parse(body.toString()) as HistoryRequest)
          .then(([more, list]) => this.#answer(id, Uint8Array.of(more ? 1 : 0), ...list.parts))
          .catch((error: unknown) => this.#refuse(id, error));
        return;
      default:
        // A mirror runs the same program, so this is a bug, and the connection is worth nothing.
        this.socket.close();
    }
  }

  #propose(id: number, body: Buffer): void {
    // The log keeps these bytes, so they must not share memory with others.
    const data = Buffer.allocUnsafeSlow(body.byteLength);
    data.set(body);
    this.#source.propose(data).then(
      () => this.#answer(id),
      (error: unknown) => this.#refuse(id, error),
    );
  }

  #readIndex(id: number): void {
    const index = this.#source.readIndex();
    if (typeof index === "number") return this.#answer(id, uint64(index));
    index.then(
      (confirmed) => this.#answer(id, uint64(confirmed)),
      (error: unknown) => this.#refuse(id, error),
    );
  }

  async #readHistory(request: HistoryRequest): Promise<[more: boolean, list: EntryList]> {
    const { history } = this.#source.state;
    const list = new EntryList();
    const limit = Math.min(request.limit, historyPageMax);
    let listed = 0;
    const isFull = () => listed++ > 0 && list.bytes >= historyPageBytes;
    if (request.kind === "scanAt") {
      const entries = await history.scanAt(toRevision(request.at), request.prefix, request.start, limit);
      for (const entry of entries) {
        if (isFull()) return [true, list];
        list.add(entry);
      }
      return [entries.length === limit, list];
    }
    const events = await history.eventsAfter(toRevision(request.after), request.prefix, limit);
    for (const event of events) {
      if (isFull()) return [true, list];
      list.addEvent(event);
    }
    return [events.length === limit, list];
  }

  #answer(id: number, ...parts: readonly Uint8Array[]): void {
    this.send(frameOf(frameKinds.answer, uint32(id), ...parts));
  }

  #refuse(id: number, error: unknown): void {
    this.send(frameOf(frameKinds.refusal, uint32(id), Buffer.from(JSON.stringify(refusalOf(error)))));
  }
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof RaftError) return { kind: "raft", code: error.code };
  if (error instanceof CompactedError) return { kind: "compacted", oldest: error.oldest };
  if (error instanceof CorruptEntryError) return { kind: "corrupt", key: error.key, why: error.why };
  return { kind: "unavailable", why: thrownText(error) };
}

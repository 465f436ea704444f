import { noMember, RaftError, type RaftErrorCode } from "../../../../raft/index.ts";
import { toRevision } from "../../../api/revision.ts";
import { SharedQuestion } from "../../../process/shared-question.ts";
import { CompactedError, CorruptEntryError, StoreUnavailableError } from "../../store.ts";
import { type FrameKind, frameKinds, frameOf, readUint64, uint32 } from "./frame.ts";
import type { connectFrames, FrameSocket } from "./frame-socket.ts";
import type { HistoryRequest, Refusal } from "./message.ts";

/** Receives the state, in order. Payloads are valid during the call only. */
export interface MirrorLinkEvents {
  imageBegin(header: Buffer): void;
  imageEntries(list: Buffer): void;
  imageEnd(): void;
  logEntry(index: number, data: Uint8Array | undefined): void;
  leaderChanged(): void;
  failed(reason: string): void;
  closed(): void;
}

/** A mirror's connection to the process that keeps the log. */
export class MirrorLink {
  readonly #events: MirrorLinkEvents;
  readonly #pending = new Map<number, PromiseWithResolvers<Buffer>>();
  readonly #newestIndex = new SharedQuestion(async () => readUint64(await this.#request(frameKinds.readIndex), 0));
  #socket: FrameSocket | undefined;
  #lastId = 0;
  #isClosed = false;

  private constructor(events: MirrorLinkEvents) {
    this.#events = events;
  }

  /** Connects to a `MirrorFeed`, which then sends an image. @throws Error if nobody listens */
  static async connect(path: string, connect: typeof connectFrames, events: MirrorLinkEvents): Promise<MirrorLink> {
    const link = new MirrorLink(events);
    link.#socket = await connect(path, {
      frame: (kind, payload) => link.#receive(kind, payload),
      closed: () => link.#closed(),
    });
    return link;
  }

  /** Appends to the log. Resolves when the entry is applied here. @throws RaftError */
  async propose(data: Uint8Array): Promise<void> {
    await this.#request(frameKinds.propose, data);
  }

  /** Returns an index that includes every write acknowledged so far. Callers share questions. @throws RaftError */
  readIndex(): Promise<number> {
    return this.#newestIndex.ask();
  }

  /**
   * Reads a page of history. Asks again if a new image makes the question void: a read can be repeated.
   * @throws CompactedError, CorruptEntryError, StoreUnavailableError
   */
  async history(request: HistoryRequest): Promise<{ readonly more: boolean; readonly list: Buffer }> {
    for (;;) {
      try {
        const answer = await this.#request(frameKinds.history, Buffer.from(JSON.stringify(request)));
        return { more: answer[0] === 1, list: answer.subarray(1) };
      } catch (error) {
        if (!(error instanceof RaftError)) throw error;
        if (error.code !== "unknown") throw new StoreUnavailableError(error.message, "notDone");
      }
    }
  }

  close(): void {
    this.#socket?.close();
  }

  async #request(kind: FrameKind, ...parts: readonly Uint8Array[]): Promise<Buffer> {
    if (this.#isClosed) throw raftError("stopped");
    this.#lastId = (this.#lastId + 1) >>> 0;
    const pending = Promise.withResolvers<Buffer>();
    this.#pending.set(this.#lastId, pending);
    this.#socket?.send(frameOf(kind, uint32(this.#lastId), ...parts));
    return await pending.promise;
  }

  #receive(kind: FrameKind, payload: Buffer): void {
    switch (kind) {
      case frameKinds.logEntry:
        return this.#events.logEntry(readUint64(payload, 0), payload[8] === 1 ? payload.subarray(9) : undefined);
      case frameKinds.answer:
        // The caller continues after this turn, when the payload is no longer valid.
        return this.#take(payload)?.resolve(Buffer.from(payload.subarray(4)));
      case frameKinds.refusal:
        return this.#take(payload)?.reject(errorOf(JSON.parse(payload.toString("utf8", 4)) as Refusal));
      case frameKinds.imageBegin:
        this.#rejectAll("unknown");
        return this.#events.imageBegin(payload);
      case frameKinds.imageEntries:
        return this.#events.imageEntries(payload);
      case frameKinds.imageEnd:
        return this.#events.imageEnd();
      case frameKinds.leader:
        return this.#events.leaderChanged();
      case frameKinds.failed:
        return this.#events.failed(payload.toString());
      default:
        this.close();
    }
  }

  #take(payload: Buffer): PromiseWithResolvers<Buffer> | undefined {
    const id = payload.readUInt32BE();
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }

  #closed(): void {
    this.#isClosed = true;
    this.#rejectAll("stopped");
    this.#events.closed();
  }

  #rejectAll(code: RaftErrorCode): void {
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(raftError(code));
  }
}

function raftError(code: RaftErrorCode): RaftError {
  return new RaftError(code, noMember);
}

function errorOf(refusal: Refusal): Error {
  switch (refusal.kind) {
    case "raft":
      return raftError(refusal.code);
    case "compacted":
      return new CompactedError(toRevision(refusal.oldest));
    case "corrupt":
      return new CorruptEntryError(refusal.key, refusal.why);
    case "unavailable":
      return new StoreUnavailableError(refusal.why, "notDone");
  }
}

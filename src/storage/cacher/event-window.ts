import type { FrameEncoder } from "../../api/codec/frame-encoder.ts";
import type { Entry } from "../../api/entry.ts";
import type { Revision } from "../../api/revision.ts";
import type { StoreEvent } from "../store.ts";
import type { CacherLimits } from "./limits.ts";
import { entryWithRevision } from "./with-resource-version.ts";

export type SentType = "ADDED" | "MODIFIED" | "DELETED";

/** Maximum number of frames kept per event. Further combinations of type and format are encoded for each watcher. */
const framesPerEventMax = 8;
/** Minimum number of dropped events that are cut off the array at once. They must also fill half of it. */
const cutMin = 1_024;

interface Frame {
  readonly type: SentType;
  readonly format: string;
  readonly bytes: Uint8Array;
}

/** An event with the encodings that watchers have needed. */
export class WindowEvent {
  readonly event: StoreEvent;
  readonly position: number;
  readonly atMs: number;
  #hidden: Entry | undefined;
  #frames: Frame[] | undefined;

  /** Wraps an event. `position` and `atMs` only matter inside a window. */
  constructor(event: StoreEvent, position = -1, atMs = 0) {
    this.event = event;
    this.position = position;
    this.atMs = atMs;
  }

  get bytes(): number {
    return this.event.entry.body.byteLength + (this.event.previous?.body.byteLength ?? 0);
  }

  /** Returns the entry for a watcher. A change that takes an object out of a selection shows the last selected state. */
  sentEntry(type: SentType): Entry {
    const { entry, previous, type: own } = this.event;
    if (type !== "DELETED" || own === "DELETED") return entry;
    this.#hidden ??= entryWithRevision(previous as Entry, entry.revision);
    return this.#hidden;
  }

  cachedFrame(type: SentType, format: string): Uint8Array | undefined {
    if (this.#frames === undefined) return undefined;
    for (const frame of this.#frames) if (frame.type === type && frame.format === format) return frame.bytes;
    return undefined;
  }

  /** Keeps a frame. Returns false if the event already has the maximum number of frames. */
  keepFrame(type: SentType, format: string, bytes: Uint8Array): boolean {
    this.#frames ??= [];
    if (this.#frames.length >= framesPerEventMax) return false;
    this.#frames.push({ type, format, bytes });
    return true;
  }

  /** Drops the frames and returns the number of bytes freed. */
  dropFrames(): number {
    let bytes = 0;
    for (const frame of this.#frames ?? []) bytes += frame.bytes.byteLength;
    this.#frames = undefined;
    this.#hidden = undefined;
    return bytes;
  }
}

/**
 * The newest events of one resource, each at an absolute position that never changes. A watcher holds one position. The
 * window holds every event after `droppedRevision`.
 */
export class EventWindow {
  readonly #limits: CacherLimits;
  #events: WindowEvent[] = [];
  /** Index of the oldest kept event in `#events`. */
  #head = 0;
  /** Position of `#events[0]`. */
  #base = 0;
  #bytes = 0;
  #dropped: Revision;
  /** The first position whose events keep frames. A watcher behind it is slow and alone, so sharing would not help. */
  #frameFloor = 0;
  #frameBytes = 0;

  /** Creates a window whose events continue the state at revision `start`. */
  constructor(limits: CacherLimits, start: Revision) {
    this.#limits = limits;
    this.#dropped = start;
  }

  /** Position of the oldest kept event. */
  get first(): number {
    return this.#base + this.#head;
  }

  /** The position that the next event will get. */
  get end(): number {
    return this.#base + this.#events.length;
  }

  /** The revision after which the window holds every event. */
  get droppedRevision(): Revision {
    return this.#dropped;
  }

  append(event: StoreEvent, nowMs: number): void {
    const item = new WindowEvent(event, this.end, nowMs);
    this.#events.push(item);
    this.#bytes += item.bytes;
    this.trim(nowMs);
  }

  /** Returns the event at a position. @throws RangeError outside `first` to `end` */
  at(position: number): WindowEvent {
    const item = position < this.first ? undefined : this.#events[position - this.#base];
    if (item === undefined) throw new RangeError(`no event at ${position}`);
    return item;
  }

  /** Reports whether the events before a position are all those of their revisions. There must be one before it. */
  endsRevision(position: number): boolean {
    return position === this.end || this.at(position).event.revision !== this.at(position - 1).event.revision;
  }

  /** Returns the position of the first event after `revision`, or undefined if some of those events were dropped. */
  positionAfter(revision: Revision): number | undefined {
    if (revision < this.#dropped) return undefined;
    let low = this.#head;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#events[middle] as WindowEvent).event.revision <= revision) low = middle + 1;
      else high = middle;
    }
    return this.#base + low;
  }

  /** Drops events beyond the limits. */
  trim(nowMs: number): void {
    const { windowEventsMax, windowBytesMax, windowAgeMs, windowEventsMin } = this.#limits;
    for (;;) {
      const kept = this.#events.length - this.#head;
      if (kept === 0) break;
      const oldest = this.#events[this.#head] as WindowEvent;
      const aged = kept > windowEventsMin && nowMs - oldest.atMs > windowAgeMs;
      // The newest event always stays, because its watchers have not had a turn yet.
      const tooMuch = kept > windowEventsMax || (this.#bytes > windowBytesMax && kept > 1);
      if (!aged && !tooMuch) break;
      this.#dropOldest(oldest);
    }
    if (this.#head >= cutMin && this.#head * 2 >= this.#events.length) {
      this.#base += this.#head;
      this.#events = this.#events.slice(this.#head);
      this.#head = 0;
    }
  }

  /** Returns the bytes of an event in the encoder's format. All watchers of one format share them. */
  frame(item: WindowEvent, type: SentType, encoder: FrameEncoder): Uint8Array {
    const { format } = encoder;
    if (format === "") return encoder.event(type, item.sentEntry(type));
    const cached = item.cachedFrame(type, format);
    if (cached !== undefined) return cached;
    const bytes = encoder.event(type, item.sentEntry(type));
    if (item.position >= this.#frameFloor && item.keepFrame(type, format, bytes)) {
      this.#frameBytes += bytes.byteLength;
      if (this.#frameBytes > this.#limits.frameBytesMax) this.#dropFrames();
    }
    return bytes;
  }

  /** Drops frames, oldest first, until half of the bytes are left. */
  #dropFrames(): void {
    const wanted = this.#limits.frameBytesMax / 2;
    let position = Math.max(this.#frameFloor, this.first);
    while (position < this.end && this.#frameBytes > wanted) this.#frameBytes -= this.at(position++).dropFrames();
    this.#frameFloor = position;
  }

  #dropOldest(oldest: WindowEvent): void {
    this.#dropped = oldest.event.revision;
    this.#bytes -= oldest.bytes;
    this.#frameBytes -= oldest.dropFrames();
    // The array slot is cut off later. Until then it must not keep the bodies alive.
    (this.#events as (WindowEvent | undefined)[])[this.#head] = undefined;
    this.#head++;
  }
}

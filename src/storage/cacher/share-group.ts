import type { FrameEncoder } from "../../api/codec/frame-encoder.ts";
import type { EventWindow, SentType, WindowEvent } from "./event-window.ts";

/** Size at which a chunk is full. It ends with the event that reaches this size. */
export const chunkBytes = 64 * 1024;
/** Maximum number of events examined for one chunk, so that a selection without matches does not hold the turn. */
const chunkEventsMax = 4_096;
/** Joined chunks kept per group. Watchers of a group are mostly at the same two or three positions. */
const chunksKept = 4;

/** Frames of the events from position `from` to `to`, exclusive. */
export interface Chunk {
  readonly from: number;
  readonly to: number;
  /** Joined frames, or undefined if no event concerns the watchers. */
  readonly bytes: Uint8Array | undefined;
  /** Number of frames in `bytes`. */
  readonly events: number;
}

/** Returns the type that a watcher sees for an event, or undefined if it sees nothing. */
export type Select = (item: WindowEvent) => SentType | undefined;

/**
 * Watchers that receive the same bytes: same scope, no selection, same format. A chunk is joined once for all of them.
 */
export class ShareGroup {
  members = 0;
  readonly #chunks: Chunk[] = [];

  chunk(window: EventWindow, from: number, select: Select, encoder: FrameEncoder): Chunk {
    for (const kept of this.#chunks) if (kept.from === from) return kept;
    const chunk = joinChunk(window, from, select, encoder);
    if (this.members > 1) {
      if (this.#chunks.length >= chunksKept) this.#chunks.shift();
      this.#chunks.push(chunk);
    }
    return chunk;
  }

  /** Frees the chunks. They can all be joined again. */
  clear(): void {
    this.#chunks.length = 0;
  }
}

/**
 * Joins the frames of the events from `from` on, up to 64 KiB. A larger frame stands alone and is not copied. The events
 * of one revision stay together, because a watch continues after a revision.
 */
export function joinChunk(window: EventWindow, from: number, select: Select, encoder: FrameEncoder): Chunk {
  const frames: Uint8Array[] = [];
  const last = from + chunkEventsMax;
  let bytes = 0;
  let to = from;
  while (to < window.end) {
    const item = window.at(to);
    const type = select(item);
    if (type !== undefined) {
      const frame = window.frame(item, type, encoder);
      if (bytes > 0 && bytes + frame.byteLength > chunkBytes && window.endsRevision(to)) break;
      frames.push(frame);
      bytes += frame.byteLength;
    }
    to++;
    if ((bytes >= chunkBytes || to >= last) && window.endsRevision(to)) break;
  }
  return { from, to, bytes: joinFrames(frames), events: frames.length };
}

export function joinFrames(frames: readonly Uint8Array[]): Uint8Array | undefined {
  return frames.length < 2 ? frames[0] : Buffer.concat(frames);
}

import type { Entry } from "../../api/entry.ts";
import type { FrameEncoder } from "../../api/codec/frame-encoder.ts";
import type { SentType } from "./event-window.ts";

/** Most entries prepared at a time, and bytes after which no more are taken. */
const batchEntriesMax = 256;
const batchBytesMax = 1024 * 1024;

/** An encoder whose entries take a form first. */
export type PreparingEncoder = FrameEncoder & Required<Pick<FrameEncoder, "prepare">>;

/** Events that a watcher sends next, once their entries are prepared. */
export interface Batch {
  readonly types: readonly SentType[];
  readonly entries: readonly Entry[];
  /** Counts them as sent. */
  advance(): void;
}

export function preparing(encoder: FrameEncoder): PreparingEncoder | undefined {
  const { prepare } = encoder;
  return prepare === undefined ? undefined : { ...encoder, prepare };
}

/** Collects what `visit` adds. `add` returns false when the batch is full. */
export function batchOf(
  visit: (add: (type: SentType, entry: Entry) => boolean) => void,
): Pick<Batch, "types" | "entries"> {
  const types: SentType[] = [];
  const entries: Entry[] = [];
  let bytes = 0;
  visit((type, entry) => {
    types.push(type);
    entries.push(entry);
    bytes += entry.body.byteLength;
    return entries.length < batchEntriesMax && bytes < batchBytesMax;
  });
  return { types, entries };
}

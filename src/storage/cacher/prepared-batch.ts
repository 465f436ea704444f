import type { FrameEncoder } from "../../api/codec/frame-encoder.ts";
import type { Entry } from "../../api/entry.ts";
import { type Eventual, followedBy } from "../../api/eventual.ts";
import type { SentType } from "./event-window.ts";

/** Maximum number of entries prepared at a time, and bytes after which no more are taken. */
const batchEntriesMax = 256;
const batchBytesMax = 1024 * 1024;

/** An encoder whose entries take a form first. */
export type PreparingEncoder = FrameEncoder & Required<Pick<FrameEncoder, "prepare">>;

/** A selection in two steps, where it depends on content that may have to be converted in between. */
export interface ContentSelection {
  /** Reports whether an entry may match, without a look at its content. */
  readonly mayMatch: (entry: Entry) => boolean;
  /** Reports whether a prepared entry matches. */
  readonly matches: (prepared: Entry) => boolean;
}

/** An event, and the entry that it shows. */
export interface Change {
  readonly type: SentType;
  readonly entry: Entry;
  /** The entry that a deletion would show, where the object was selected before and still may be. */
  readonly previous?: Entry | undefined;
}

/** Changes that a watcher sends next, once their entries are prepared. */
export interface Batch {
  readonly changes: readonly Change[];
  /** Counts them as sent. */
  advance(): void;
}

export function preparing(encoder: FrameEncoder): PreparingEncoder | undefined {
  const { prepare } = encoder;
  return prepare === undefined ? undefined : { ...encoder, prepare };
}

/** Collects what `visit` adds. `add` returns false when the batch is full. */
export function batchOf(visit: (add: (change: Change) => boolean) => void): readonly Change[] {
  const changes: Change[] = [];
  let bytes = 0;
  visit((change) => {
    changes.push(change);
    bytes += change.entry.body.byteLength + (change.previous?.body.byteLength ?? 0);
    return changes.length < batchEntriesMax && bytes < batchBytesMax;
  });
  return changes;
}

/** Prepares the entries of changes, and leaves out changes that their content does not select. */
export function prepareChanges(
  { prepare }: PreparingEncoder,
  changes: readonly Change[],
  content: ContentSelection | undefined,
): Eventual<readonly Change[]> {
  const entries = changes.map(({ entry }) => entry);
  if (content === undefined) {
    return followedBy(prepare(entries), (ready) => ready.map((entry, at) => ({ ...(changes[at] as Change), entry })));
  }
  const previous = changes.flatMap((change) => change.previous ?? []);
  return followedBy(prepare([...entries, ...previous]), (ready) => {
    let next = entries.length;
    return changes.flatMap(({ type, previous: before }, at) => {
      const old = before === undefined ? undefined : ready[next++];
      return selected({ type, entry: ready[at] as Entry, previous: old }, content) ?? [];
    });
  });
}

/** Returns the change that a watch shows: one that crosses the selection is an addition or a deletion. */
function selected({ type, entry, previous }: Change, { matches }: ContentSelection): Change | undefined {
  const isSelected = matches(entry);
  if (previous === undefined) return isSelected ? { type, entry } : undefined;
  const wasSelected = matches(previous);
  if (isSelected) return { type: wasSelected ? type : "ADDED", entry };
  return wasSelected ? { type: "DELETED", entry: previous } : undefined;
}

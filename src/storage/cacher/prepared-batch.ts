import type { FrameEncoder } from "../../api/codec/frame-encoder.ts";
import type { Entry } from "../../api/entry.ts";
import { type Eventual, followedBy } from "../../process/eventual.ts";
import type { SentType } from "./event-window.ts";

/** Maximum number of entries prepared at a time, and bytes after which no more are taken. */
const batchEntriesMax = 256;
const batchBytesMax = 1024 * 1024;

/** An encoder that prepares its entries. */
export type PreparingEncoder = FrameEncoder & Required<Pick<FrameEncoder, "prepare">>;

/** A selection in two steps, for a selection by content that may need conversion in between. */
export interface ContentSelection {
  /** Reports whether an entry may match, without examining its content. */
  readonly mayMatch: (entry: Entry) => boolean;
  /** Reports whether a prepared entry matches. */
  readonly matches: (prepared: Entry) => boolean;
}

/** An event and the entry to show for it. */
export interface Change {
  readonly type: SentType;
  readonly entry: Entry;
  /** The entry for a deletion, if the object was selected before and may still be. */
  readonly previous?: Entry | undefined;
}

/** The changes that a watcher sends next, once their entries are prepared. */
export interface Batch {
  readonly changes: readonly Change[];
  /** Marks them as sent. */
  advance(): void;
}

export function preparing(encoder: FrameEncoder): PreparingEncoder | undefined {
  const { prepare } = encoder;
  return prepare === undefined ? undefined : { ...encoder, prepare };
}

/** Collects the changes that `visit` adds. `add` returns false when the batch is full. */
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

/** Prepares the entries of changes. Omits changes whose content is not selected. */
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

/** Returns the change as a watch shows it: crossing the selection's border is an addition or a deletion. */
function selected({ type, entry, previous }: Change, { matches }: ContentSelection): Change | undefined {
  const isSelected = matches(entry);
  if (previous === undefined) return isSelected ? { type, entry } : undefined;
  const wasSelected = matches(previous);
  if (isSelected) return { type: wasSelected ? type : "ADDED", entry };
  return wasSelected ? { type: "DELETED", entry: previous } : undefined;
}

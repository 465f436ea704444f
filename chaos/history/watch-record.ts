import type { Observed } from "./operation.ts";

export interface WatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: Observed;
  readonly seenMs: number;
}

/** What came over one watch from its beginning to its end. */
export interface WatchRecord {
  readonly watcher: string;
  readonly member: number;
  /** Only objects with this color; undefined: all. */
  readonly color: string | undefined;
  /** The revision that it was asked to go on from. */
  readonly from: number;
  readonly events: WatchEvent[];
  /** The newest revision that an event or a bookmark named, `from` before any. */
  until: number;
}

/** What a client that lists and watches holds in the end. */
export interface InformerState {
  readonly watcher: string;
  readonly revision: number;
  readonly objects: readonly Observed[];
  /** Lists that it needed: the first, and one for each time that its revision was gone. */
  readonly lists: number;
}

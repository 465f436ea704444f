import type { Observed } from "./operation.ts";

export interface WatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: Observed;
  readonly seenMs: number;
}

/** The events of one watch from its start to its end. */
export interface WatchRecord {
  readonly watcher: string;
  readonly member: number;
  /** The color of the watched objects; undefined for all. */
  readonly color: string | undefined;
  /** The requested start revision. */
  readonly from: number;
  readonly events: WatchEvent[];
  /** The newest revision in an event or a bookmark; `from` before the first. */
  until: number;
}

/** The final contents of a client that lists and watches. */
export interface InformerState {
  readonly watcher: string;
  readonly revision: number;
  readonly objects: readonly Observed[];
  /** Number of lists: the first, and one for each time that its revision was compacted. */
  readonly lists: number;
}

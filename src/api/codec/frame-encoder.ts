import type { Eventual } from "../../process/eventual.ts";
import type { Entry } from "../entry.ts";
import type { Revision } from "../revision.ts";
import type { Status } from "../status.ts";

/** Writes the events of one watch. */
export interface FrameEncoder {
  /**
   * Key under which frames are shared: encoders with equal formats give equal bytes for equal input. Empty for an
   * encoder whose bytes depend on earlier frames, which are not shared.
   */
  readonly format: string;
  /**
   * Converts entries, in order, to a form that `event` can write. Present only where entries need it.
   * @throws StatusError, also as a rejection
   */
  readonly prepare?: (entries: readonly Entry[]) => Eventual<readonly Entry[]>;
  event(type: "ADDED" | "MODIFIED" | "DELETED", entry: Entry): Uint8Array;
  /** Encodes a bookmark; `initialEventsEnd` adds the annotation that ends the initial state. */
  bookmark(revision: Revision, initialEventsEnd: boolean): Uint8Array;
  error(status: Status): Uint8Array;
}

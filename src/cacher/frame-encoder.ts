import type { Status } from "../api/status.ts";
import type { Revision } from "../storage/revision.ts";
import type { Entry } from "../storage/store.ts";

/** Turns what happens into the frames of one watch response. */
export interface FrameEncoder {
  /** Watches with the same format may share the frames of an event. Unique when the frames depend on the stream. */
  readonly format: string;
  event(type: "ADDED" | "MODIFIED" | "DELETED", entry: Entry): Uint8Array;
  /** `initialEventsEnd` marks the bookmark that closes the initial state. */
  bookmark(revision: Revision, initialEventsEnd: boolean): Uint8Array;
  error(status: Status): Uint8Array;
}

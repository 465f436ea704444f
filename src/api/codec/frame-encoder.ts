import type { Status } from "../status.ts";
import type { Eventual } from "../eventual.ts";
import type { Revision } from "../revision.ts";
import type { Entry } from "../entry.ts";

/** How one watch writes its events. */
export interface FrameEncoder {
  /**
   * Equal formats mean equal bytes for equal input: frames are shared under this key. Empty for an encoder whose bytes
   * depend on what it wrote before; its frames are not shared.
   */
  readonly format: string;
  /**
   * Present where entries take a form first before `event` can write them. The result stands for the entries, in order.
   * @throws StatusError, also as a rejection
   */
  readonly prepare?: (entries: readonly Entry[]) => Eventual<readonly Entry[]>;
  event(type: "ADDED" | "MODIFIED" | "DELETED", entry: Entry): Uint8Array;
  /** `initialEventsEnd`: with the annotation that ends the initial state. */
  bookmark(revision: Revision, initialEventsEnd: boolean): Uint8Array;
  error(status: Status): Uint8Array;
}

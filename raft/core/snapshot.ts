import type { Index, Term } from "./ids.ts";
import type { Membership } from "./membership.ts";

/**
 * A snapshot by reference: the state after applying every entry up to `index`. Its bytes never pass through the core.
 * It also says what a log forgot when it was compacted: its base.
 */
export interface SnapshotMeta {
  readonly index: Index;
  /** Of the entry at `index`. */
  readonly term: Term;
  /** The newest membership in the log up to `index`. */
  readonly membership: Membership;
}

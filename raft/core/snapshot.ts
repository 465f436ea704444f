import type { Index, Term } from "./ids.ts";
import type { Membership } from "./membership.ts";

/**
 * A reference to a snapshot: the state after applying every entry up to `index`. Its bytes never pass through the core.
 * It also describes the base of a compacted log.
 */
export interface SnapshotMeta {
  readonly index: Index;
  /** Term of the entry at `index`. */
  readonly term: Term;
  /** Newest membership in the log up to `index`. */
  readonly membership: Membership;
}

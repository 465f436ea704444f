import type { Observed } from "./operation.ts";

/** The requested freshness of a read. */
export type Freshness =
  | { readonly kind: "consistent" }
  /** `resourceVersion=0`. */
  | { readonly kind: "any" }
  | { readonly kind: "notOlderThan"; readonly revision: number }
  | { readonly kind: "exact"; readonly revision: number };

/** A completely answered list, in one page or several. Times are as in `Operation`. */
export interface ListRead {
  readonly client: string;
  readonly member: number;
  readonly freshness: Freshness;
  readonly pages: number;
  readonly revision: number;
  readonly objects: readonly Observed[];
  readonly invokedMs: number;
  readonly returnedMs: number;
}

/** A read of one object that did not request the newest state. */
export interface CachedRead {
  readonly client: string;
  readonly member: number;
  readonly key: string;
  /** Oldest acceptable revision; 0 for any. */
  readonly notOlderThan: number;
  /** The object; undefined if it was absent. */
  readonly object: Observed | undefined;
}

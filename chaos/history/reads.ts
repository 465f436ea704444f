import type { Observed } from "./operation.ts";

/** How fresh a read asked its answer to be. */
export type Freshness =
  | { readonly kind: "consistent" }
  /** `resourceVersion=0`. */
  | { readonly kind: "any" }
  | { readonly kind: "notOlderThan"; readonly revision: number }
  | { readonly kind: "exact"; readonly revision: number };

/** A list that was answered whole, in one page or several. Times as in `Operation`. */
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

/** A read of one object that did not ask for the newest. */
export interface CachedRead {
  readonly client: string;
  readonly member: number;
  readonly key: string;
  /** 0: anything. */
  readonly notOlderThan: number;
  /** Undefined: it was not there. */
  readonly object: Observed | undefined;
}

/** An object as a client saw it. Every write has a unique value. */
export interface Observed {
  readonly key: string;
  readonly uid: string;
  readonly revision: number;
  readonly value: string;
  /** The value of the label that filtered watches select. A write may change it. */
  readonly color: string;
}

export type WriteRequest =
  | { readonly verb: "create"; readonly value: string; readonly color: string }
  /** Replaces the object if its revision is still `expected`. */
  | { readonly verb: "update"; readonly value: string; readonly color: string; readonly expected: number }
  /** Replaces the value of the object, whatever its revision. */
  | { readonly verb: "patch"; readonly value: string; readonly color: string }
  | { readonly verb: "delete"; readonly expected: number | undefined };

export type Request = { readonly verb: "get" } | WriteRequest;

export type Outcome =
  /** The object after a write or as read; absent after a delete. */
  | { readonly kind: "ok"; readonly object: Observed | undefined }
  /** 404. */
  | { readonly kind: "absent" }
  /** 409 AlreadyExists. */
  | { readonly kind: "exists" }
  /** 409 Conflict: the object exists, but not at the expected revision. */
  | { readonly kind: "conflict" }
  /** It did not happen, and gives no information about the object. */
  | { readonly kind: "refused"; readonly why: string }
  /** The outcome is unknown: it happened, will happen, or never does. */
  | { readonly kind: "unknown"; readonly why: string };

/** One linearizable operation on one object. Times are milliseconds of one monotonic clock. */
export interface Operation {
  readonly client: string;
  readonly member: number;
  readonly key: string;
  readonly request: Request;
  readonly outcome: Outcome;
  readonly invokedMs: number;
  readonly returnedMs: number;
}

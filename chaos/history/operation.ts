/** An object as a client saw it. Whoever writes gives every write a value of its own. */
export interface Observed {
  readonly key: string;
  readonly uid: string;
  readonly revision: number;
  readonly value: string;
  /** Value of the label that filtered watches select by; a write may change it. */
  readonly color: string;
}

export type WriteRequest =
  | { readonly verb: "create"; readonly value: string; readonly color: string }
  /** Replaces the object if it still is at `expected`. */
  | { readonly verb: "update"; readonly value: string; readonly color: string; readonly expected: number }
  /** Replaces the value of the object, whatever it is. */
  | { readonly verb: "patch"; readonly value: string; readonly color: string }
  | { readonly verb: "delete"; readonly expected: number | undefined };

export type Request = { readonly verb: "get" } | WriteRequest;

export type Outcome =
  /** The object after a write or as read; a delete does not say. */
  | { readonly kind: "ok"; readonly object: Observed | undefined }
  /** 404. */
  | { readonly kind: "absent" }
  /** 409 AlreadyExists. */
  | { readonly kind: "exists" }
  /** 409 Conflict: the object is there, and not at the expected revision. */
  | { readonly kind: "conflict" }
  /** It did not happen, and says nothing of the object. */
  | { readonly kind: "refused"; readonly why: string }
  /** It happened, will happen, or never does. */
  | { readonly kind: "unknown"; readonly why: string };

/** One linearizable operation on one object. Times are of one monotonic clock, in milliseconds. */
export interface Operation {
  readonly client: string;
  readonly member: number;
  readonly key: string;
  readonly request: Request;
  readonly outcome: Outcome;
  readonly invokedMs: number;
  readonly returnedMs: number;
}

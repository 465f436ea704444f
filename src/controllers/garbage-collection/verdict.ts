import type { ObjectMeta, OwnerReference } from "../../api/object-meta.ts";
import { foregroundDeletionFinalizer, orphanFinalizer } from "../../api/vendor.ts";

/**
 * State of an owner as its dependent names it:
 *     present            an object with this uid is there
 *     awaitsDependents   it is being deleted in the foreground and waits for its dependents
 *     absent             no such object, or one with another uid
 *     unserved           its kind is not served
 *     unreadable         its bytes cannot be read
 *     outOfReach         a namespaced object, named by one without a namespace
 */
export type OwnerState = "present" | "awaitsDependents" | "absent" | "unserved" | "unreadable" | "outOfReach";

/** An object that may be garbage, with the facts for the decision. */
export interface Subject {
  readonly metadata: ObjectMeta;
  stateOf(owner: OwnerReference): OwnerState;
  /** Reports whether an object refers to this one with blockOwnerDeletion. */
  isBlocked(): boolean;
  hasDependents(): boolean;
  /** Reports whether this object is part of a cycle of objects that wait for each other. */
  isInCycle(): boolean;
}

export type PropagationPolicy = "Background" | "Foreground" | "Orphan";

/** The next write to an object. */
export type Verdict =
  | { readonly kind: "keep" }
  /** No decision is possible until all its owners are served and readable. */
  | { readonly kind: "undecided"; readonly state: "unserved" | "unreadable" }
  /** Its references to these owners are removed, and the object stays. */
  | { readonly kind: "detach"; readonly uids: ReadonlySet<string> }
  /** Its references stop blocking their owners, which breaks a cycle of objects that wait for each other. */
  | { readonly kind: "unblock" }
  | { readonly kind: "delete"; readonly policy: PropagationPolicy }
  /** Its blocking dependents are gone, so the finalizer for them is removed. */
  | { readonly kind: "release" };

const keep: Verdict = { kind: "keep" };

function isDeleting({ deletionTimestamp }: ObjectMeta): boolean {
  return deletionTimestamp !== undefined;
}

function hasFinalizer({ finalizers = [] }: ObjectMeta, finalizer: string): boolean {
  return finalizers.includes(finalizer);
}

/** Reports whether the object is being deleted and its dependents must be orphaned first. */
export function orphansDependents(metadata: ObjectMeta): boolean {
  return isDeleting(metadata) && hasFinalizer(metadata, orphanFinalizer);
}

/** Reports whether the object is being deleted and waits for its dependents. Orphaning comes first. */
export function awaitsDependents(metadata: ObjectMeta): boolean {
  if (!isDeleting(metadata) || hasFinalizer(metadata, orphanFinalizer)) return false;
  return hasFinalizer(metadata, foregroundDeletionFinalizer);
}

/** Decides on one object. An object is garbage if it names owners and none of them is present. */
export function verdictOn(subject: Subject): Verdict {
  const { metadata } = subject;
  if (awaitsDependents(metadata)) {
    if (!subject.isBlocked()) return { kind: "release" };
    return subject.isInCycle() ? { kind: "unblock" } : keep;
  }
  if (isDeleting(metadata)) return keep;
  const owners = metadata.ownerReferences ?? [];
  if (owners.length === 0) return keep;
  const states = owners.map((owner) => subject.stateOf(owner));
  if (states.includes("outOfReach")) return keep;
  for (const state of ["unreadable", "unserved"] as const)
    if (states.includes(state)) return { kind: "undecided", state };
  if (states.includes("present")) {
    const uids = new Set(owners.filter((_, at) => states[at] !== "present").map(({ uid }) => uid));
    return uids.size === 0 ? keep : { kind: "detach", uids };
  }
  if (states.includes("awaitsDependents") && subject.hasDependents()) {
    return { kind: "delete", policy: "Foreground" };
  }
  return { kind: "delete", policy: policyOf(metadata) };
}

/** Finalizers that existed before the deletion determine its propagation. */
function policyOf(metadata: ObjectMeta): PropagationPolicy {
  if (hasFinalizer(metadata, orphanFinalizer)) return "Orphan";
  return hasFinalizer(metadata, foregroundDeletionFinalizer) ? "Foreground" : "Background";
}

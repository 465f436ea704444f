import type { ObjectMeta } from "../../api/object-meta.ts";
import type { UserInfo } from "../../request/user-info.ts";
import type { AuditRule } from "./policy.ts";

/** Annotation that marks an event with omitted bodies. */
export const truncatedAnnotation = "audit.k8s.io/truncated";

/** The annotations of a request. The decision, which almost every request has, has fields of its own. */
export interface Annotations {
  /** Decision `allow` or `forbid`; "" before it. */
  decision: string;
  reason: string;
  more: Map<string, string> | undefined;
}

/** The parts of an object's identity that the path lacks; "" for unknown ones. */
export interface ObjectIdentity {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

export const unknownObject: ObjectIdentity = { name: "", uid: "", resourceVersion: "" };

/** The record of a request until its last event is written. */
export interface Recording extends Annotations {
  /** Rule; undefined when the request is not recorded. */
  readonly rule: AuditRule | undefined;
  /** Sender; undefined for an unauthenticated request. */
  readonly user: UserInfo | undefined;
  /** Identity of the object in the body of a create or update. */
  object: ObjectIdentity;
  /** Body as it was read, if the rule needs it. */
  requestBody: Uint8Array | undefined;
}

const annotationsMax = 64;

/** Adds an annotation. The first value of a key stays, so that later code cannot rewrite it. */
export function annotate(recording: Annotations, key: string, value: string): void {
  const more = (recording.more ??= new Map());
  if (!more.has(key) && more.size < annotationsMax) more.set(key, value);
}

export function recordDecision(recording: Annotations, decision: string, reason: string): void {
  if (recording.decision !== "") return;
  recording.decision = decision;
  recording.reason = reason;
}

/** Records the object before the registry fills in defaults. */
export function recordObject(recording: Recording, { name = "", uid = "", resourceVersion = "" }: ObjectMeta): void {
  recording.object = { name, uid, resourceVersion };
}

import type { ObjectMeta } from "../../api/object-meta.ts";
import type { UserInfo } from "../../request/user-info.ts";
import type { AuditRule } from "./policy.ts";

/** Says that a body was left out. */
export const truncatedAnnotation = "audit.k8s.io/truncated";

/** What was said about a request. The decision, which nearly every request has, stands beside the rest. */
export interface Annotations {
  /** `allow` or `forbid`; "" before it was decided. */
  decision: string;
  reason: string;
  more: Map<string, string> | undefined;
}

/** What the path does not say of an object; "" for what is not known. */
export interface ObjectIdentity {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

export const unknownObject: ObjectIdentity = { name: "", uid: "", resourceVersion: "" };

/** What is kept of a request until its last event is written. */
export interface Recording extends Annotations {
  /** Undefined when the request is not recorded. */
  readonly rule: AuditRule | undefined;
  /** Who sent it; undefined for one who did not authenticate. */
  readonly user: UserInfo | undefined;
  /** What the body of a create or update says of its object. */
  object: ObjectIdentity;
  /** The body as it was read, where the rule wants it. */
  requestBody: Uint8Array | undefined;
}

const annotationsMax = 64;

/** The first value of a key stays: nothing that runs later can rewrite what was recorded. */
export function annotate(recording: Annotations, key: string, value: string): void {
  const more = (recording.more ??= new Map());
  if (!more.has(key) && more.size < annotationsMax) more.set(key, value);
}

export function recordDecision(recording: Annotations, decision: string, reason: string): void {
  if (recording.decision !== "") return;
  recording.decision = decision;
  recording.reason = reason;
}

/** Before the registry fills in what the client did not say. */
export function recordObject(recording: Recording, { name = "", uid = "", resourceVersion = "" }: ObjectMeta): void {
  recording.object = { name, uid, resourceVersion };
}

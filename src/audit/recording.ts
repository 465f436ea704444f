import type { UserInfo } from "../authentication/user-info.ts";
import type { AuditRule } from "./policy.ts";

export const decisionAnnotation = "authorization.k8s.io/decision";
export const reasonAnnotation = "authorization.k8s.io/reason";

/** What was said about a request. The decision, which nearly every request has, stands beside the rest. */
export interface Annotations {
  /** `allow` or `forbid`; "" before it was decided. */
  decision: string;
  reason: string;
  more: Map<string, string> | undefined;
}

/** What is kept of a request until its last event is written. */
export interface Recording {
  /** Undefined when the request is not recorded. */
  readonly rule: AuditRule | undefined;
  /** Who sent it; undefined for one who did not authenticate. */
  readonly user: UserInfo | undefined;
  readonly annotations: Annotations;
  /** The body as it was read, where the rule wants it. */
  requestBody: Uint8Array | undefined;
}

const annotationsMax = 64;

/** The first value of a key stays: nothing that runs later can rewrite what was recorded. */
export function annotate({ annotations }: Recording, key: string, value: string): void {
  if (key === decisionAnnotation) annotations.decision ||= value;
  else if (key === reasonAnnotation) annotations.reason ||= value;
  else {
    const more = (annotations.more ??= new Map());
    if (!more.has(key) && more.size < annotationsMax) more.set(key, value);
  }
}

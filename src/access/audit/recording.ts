import { type ObjectIdentity, type RequestNotes, unknownObject } from "../../request/annotations.ts";
import type { UserInfo } from "../../request/user-info.ts";
import type { AuditRule } from "./policy.ts";

/** Annotation that marks an event with omitted bodies. */
export const truncatedAnnotation = "audit.k8s.io/truncated";

/** The audit's record of one request, kept until its last event is written. */
export class Recording implements RequestNotes {
  /** Undefined if the request is not recorded. */
  readonly rule: AuditRule | undefined;
  /** The sender; undefined if it did not authenticate. */
  readonly user: UserInfo | undefined;
  decision = "";
  reason = "";
  more: Map<string, string> | undefined;
  object: ObjectIdentity = unknownObject;
  /** The received body, if the rule records it. */
  requestBody: Uint8Array | undefined;

  constructor(rule: AuditRule | undefined, user: UserInfo | undefined) {
    this.rule = rule;
    this.user = user;
  }

  get recordsBodies(): boolean {
    const level = this.rule?.level;
    return level === "Request" || level === "RequestResponse";
  }
}

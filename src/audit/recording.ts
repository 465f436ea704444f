import type { UserInfo } from "../authentication/user-info.ts";
import type { AuditRule } from "./policy.ts";

/** What is kept of a request until its last event is written. */
export interface Recording {
  /** Undefined when the request is not recorded. */
  readonly rule: AuditRule | undefined;
  /** Who sent it; undefined for one who did not authenticate. */
  readonly user: UserInfo | undefined;
  readonly annotations: Map<string, string>;
  /** The body as it was read, where the rule wants it. */
  requestBody: Uint8Array | undefined;
}

import type { UserInfo } from "../../request/user-info.ts";
import type { Attributes } from "./attributes.ts";
import type { PolicyRule } from "./rbac/policy-rule.ts";

/**
 * A decision. `noOpinion` leaves the question to the next authorizer; after the last one it means no. Clients may see the
 * reason.
 */
export interface Decision {
  readonly kind: "allow" | "deny" | "noOpinion";
  readonly reason: string;
}

export interface Authorizer {
  authorize(user: UserInfo, attributes: Attributes): Decision | Promise<Decision>;
  /** Returns the rules of a user in a namespace and in the cluster. Absent if the authorizer has no rules to list. */
  rulesFor?(user: UserInfo, namespace: string): AuthorizedRules;
}

export interface AuthorizedRules {
  readonly rules: readonly PolicyRule[];
  /** Whether there may be more rules than are listed. */
  readonly incomplete: boolean;
  readonly errors: readonly string[];
}

export const noOpinion: Decision = { kind: "noOpinion", reason: "" };

import type { UserInfo } from "../../request/user-info.ts";
import type { Attributes } from "./attributes.ts";
import type { PolicyRule } from "./rbac/policy-rule.ts";

/**
 * A decision. `noOpinion` leaves the question to the next authorizer; at the end it means no. The reason may reach the
 * client.
 */
export interface Decision {
  readonly kind: "allow" | "deny" | "noOpinion";
  readonly reason: string;
}

export interface Authorizer {
  authorize(user: UserInfo, attributes: Attributes): Decision | Promise<Decision>;
  /**
   * Returns the rules of a user in a namespace and in the cluster. Absent if the authorizer grants nothing that could
   * be listed.
   */
  rulesFor?(user: UserInfo, namespace: string): AuthorizedRules;
}

export interface AuthorizedRules {
  readonly rules: readonly PolicyRule[];
  /** Whether more rules may exist than are listed. */
  readonly incomplete: boolean;
  readonly errors: readonly string[];
}

export const noOpinion: Decision = { kind: "noOpinion", reason: "" };

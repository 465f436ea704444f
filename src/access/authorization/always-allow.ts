import type { Authorizer, Decision } from "./authorizer.ts";
import type { PolicyRule } from "./rbac/policy-rule.ts";

const allowed: Decision = { kind: "allow", reason: "" };

/** Rules that grant everything. */
export const everyRule: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"], resourceNames: [], nonResourceURLs: [] },
  { verbs: ["*"], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ["*"] },
];

export const alwaysAllowAuthorizer: Authorizer = {
  authorize: () => allowed,
  rulesFor: () => ({ rules: everyRule, incomplete: false, errors: [] }),
};

import type { UserInfo } from "../../../request/user-info.ts";
import type { Authorizer, Decision } from "../authorizer.ts";
import type { PolicyRule } from "../rbac/policy-rule.ts";
import { type AbacPolicy, abacAllows } from "./abac-policy.ts";

const allowed: Decision = { kind: "allow", reason: "" };
const noMatch: Decision = { kind: "noOpinion", reason: "No policy matched." };

/** Allows requests that match a line of the policy file; never denies. */
export function abacAuthorizer(policies: readonly AbacPolicy[]): Authorizer {
  return {
    authorize: (user, attributes) =>
      policies.some((policy) => abacAllows(policy, user, attributes)) ? allowed : noMatch,
    rulesFor: (user, namespace) => ({
      rules: policies.flatMap((policy) => [...resourceRules(policy, user, namespace), ...pathRules(policy, user)]),
      incomplete: false,
      errors: [],
    }),
  };
}

const noRule: PolicyRule = { verbs: [], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] };

function resourceRules(policy: AbacPolicy, user: UserInfo, namespace: string): PolicyRule[] {
  const { apiGroup, resource, readonly } = policy;
  const any = { kind: "resource", verb: "get", version: "*", subresource: "", name: "" } as const;
  if (resource === "" || !abacAllows(policy, user, { ...any, group: apiGroup, resource, namespace })) return [];
  const verbs = readonly ? ["get", "list", "watch"] : ["*"];
  return [{ ...noRule, verbs, apiGroups: [apiGroup], resources: [resource] }];
}

function pathRules(policy: AbacPolicy, user: UserInfo): PolicyRule[] {
  const { nonResourcePath: path, readonly } = policy;
  if (path === "" || !abacAllows(policy, user, { kind: "nonResource", verb: "get", path })) return [];
  return [{ ...noRule, verbs: readonly ? ["get"] : ["*"], nonResourceURLs: [path] }];
}

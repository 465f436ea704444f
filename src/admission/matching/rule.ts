import type { RuleWithOperations } from "../../api/types/admissionregistration-v1.ts";

/** The request as rules see it; its resource may be another one with the same objects. */
export interface RuleTarget {
  readonly operation: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** "" for the object itself. */
  readonly subresource: string;
  readonly namespace: string;
}

/** A rule of a webhook or a policy, read once. */
export interface AdmissionRule {
  readonly operations: readonly string[];
  readonly groups: readonly string[];
  readonly versions: readonly string[];
  readonly resources: readonly ResourcePattern[];
  readonly scope: string;
}

/** `pods`, `pods/status`, `pods/*`, `*`, and the same with `*` for the resource. The subresource is "" without a slash. */
interface ResourcePattern {
  readonly resource: string;
  readonly subresource: string;
}

export function admissionRule(rule: RuleWithOperations): AdmissionRule {
  return {
    operations: rule.operations ?? [],
    groups: rule.apiGroups ?? [],
    versions: rule.apiVersions ?? [],
    resources: (rule.resources ?? []).map(resourcePattern),
    scope: rule.scope ?? "*",
  };
}

/** Reports whether the rule is about the request. */
export function ruleMatches(rule: AdmissionRule, target: RuleTarget): boolean {
  return (
    includes(rule.operations, target.operation) &&
    includes(rule.groups, target.group) &&
    includes(rule.versions, target.version) &&
    rule.resources.some((pattern) => patternMatches(pattern, target)) &&
    scopeMatches(rule.scope, target)
  );
}

function resourcePattern(text: string): ResourcePattern {
  const slash = text.indexOf("/");
  if (slash === -1) return { resource: text, subresource: "" };
  return { resource: text.slice(0, slash), subresource: text.slice(slash + 1) };
}

function includes(items: readonly string[], asked: string): boolean {
  return items.includes("*") || items.includes(asked);
}

/** `pods/*` includes the pods themselves. */
function patternMatches({ resource, subresource }: ResourcePattern, target: RuleTarget): boolean {
  return (
    (resource === "*" || resource === target.resource) && (subresource === "*" || subresource === target.subresource)
  );
}

/** Namespaces are cluster-scoped, although their requests have a namespace. */
function scopeMatches(scope: string, { group, version, resource, namespace }: RuleTarget): boolean {
  if (scope === "*") return true;
  const isNamespaced = namespace !== "" && !(group === "" && version === "v1" && resource === "namespaces");
  return scope === "Namespaced" ? isNamespaced : scope === "Cluster" && !isNamespaced;
}

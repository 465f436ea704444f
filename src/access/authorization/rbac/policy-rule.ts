import { isJsonObject, type JsonValue } from "../../../api/json.ts";

/** A rule of a role, with every list present. Rules only add permissions. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  /** Names; empty for every name. */
  readonly resourceNames: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

/** Reads the stored `rules` of a Role or ClusterRole. */
export function policyRules(value: JsonValue | undefined): PolicyRule[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isJsonObject).map((rule) => ({
    verbs: strings(rule["verbs"]),
    apiGroups: strings(rule["apiGroups"]),
    resources: strings(rule["resources"]),
    resourceNames: strings(rule["resourceNames"]),
    nonResourceURLs: strings(rule["nonResourceURLs"]),
  }));
}

function strings(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** Returns the common prefix of the paths that `pattern` covers: the pattern without its trailing asterisks. */
export function urlPrefix(pattern: string): string {
  let end = pattern.length;
  while (end > 0 && pattern[end - 1] === "*") end--;
  return pattern.slice(0, end);
}

/** Formats a rule like upstream's messages: `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`. */
export function policyRuleText(rule: PolicyRule): string {
  const parts: [string, readonly string[]][] = [
    ["APIGroups", rule.apiGroups],
    ["Resources", rule.resources],
    ["NonResourceURLs", rule.nonResourceURLs],
    ["ResourceNames", rule.resourceNames],
    ["Verbs", rule.verbs],
  ];
  const given = parts.filter(([, values]) => values.length > 0);
  return `{${given.map(([name, values]) => `${name}:${quotedList(values)}`).join(", ")}}`;
}

/** Formats a list as `["a" "b"]`. */
export function quotedList(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(" ")}]`;
}

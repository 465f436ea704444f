import type { UserInfo } from "../../request/user-info.ts";
import type { Attributes } from "../authorization/attributes.ts";
import { resourceText } from "../authorization/attributes.ts";

/** Levels of recording, in ascending order. */
export const levels = ["None", "Metadata", "Request", "RequestResponse"] as const;
export type Level = (typeof levels)[number];

export const stages = ["RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"] as const;
export type Stage = (typeof stages)[number];

/** Rules in order. The first one that matches decides how a request is recorded. Without a match, it is not recorded. */
export interface AuditPolicy {
  readonly rules: readonly AuditRule[];
}

/** A rule. An empty list does not restrict its part of the request. */
export interface AuditRule {
  readonly level: Level;
  readonly users: readonly string[];
  readonly userGroups: readonly string[];
  readonly verbs: readonly string[];
  readonly resources: readonly AuditedResources[];
  /** Namespaces, with "" for the cluster scope. */
  readonly namespaces: readonly string[];
  readonly nonResourceURLs: readonly string[];
  /** Omitted stages, including those of the whole policy. */
  readonly omitStages: ReadonlySet<Stage>;
  readonly omitManagedFields: boolean;
}

export interface AuditedResources {
  readonly group: string;
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
}

/**
 * Returns the rule for a request, or undefined if it is not recorded. `user` is undefined for an unauthenticated request.
 */
export function auditRule(
  { rules }: AuditPolicy,
  user: UserInfo | undefined,
  attributes: Attributes,
): AuditRule | undefined {
  for (const rule of rules) {
    if (matches(rule, user, attributes)) return rule.level === "None" ? undefined : rule;
  }
  return undefined;
}

function matches(rule: AuditRule, user: UserInfo | undefined, attributes: Attributes): boolean {
  const { users, userGroups, verbs, namespaces, resources, nonResourceURLs } = rule;
  if (users.length > 0 && (user === undefined || !users.includes(user.name))) return false;
  if (userGroups.length > 0 && !userGroups.some((group) => user?.groups.includes(group) === true)) return false;
  if (verbs.length > 0 && !verbs.includes(attributes.verb)) return false;
  if (namespaces.length > 0 || resources.length > 0) return matchesResource(rule, attributes);
  if (nonResourceURLs.length === 0) return true;
  return attributes.kind === "nonResource" && nonResourceURLs.some((pattern) => matchesPath(pattern, attributes.path));
}

function matchesResource({ namespaces, resources }: AuditRule, attributes: Attributes): boolean {
  if (attributes.kind === "nonResource") return false;
  if (namespaces.length > 0 && !namespaces.includes(attributes.namespace)) return false;
  if (resources.length === 0) return true;
  const { resource, subresource, name, group } = attributes;
  const full = resourceText(attributes);
  return resources.some((entry) => {
    if (entry.group !== group) return false;
    if (entry.resources.length === 0) return true;
    if (entry.resourceNames.length > 0 && !entry.resourceNames.includes(name)) return false;
    return entry.resources.some(
      (pattern) =>
        pattern === "*" ||
        pattern === full ||
        pattern === `${resource}/*` ||
        (subresource !== "" && pattern === `*/${subresource}`),
    );
  });
}

function matchesPath(pattern: string, path: string): boolean {
  if (pattern === "*" || pattern === path) return true;
  return pattern.endsWith("*") && path.startsWith(pattern.slice(0, -1));
}

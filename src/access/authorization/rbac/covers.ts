import { GrantIndex } from "./grant-index.ts";
import { type PolicyRule, policyRuleText } from "./policy-rule.ts";

/** Maximum number of single permissions in one check. A role with more is denied to users who need the check. */
export const checkedPermissionsMax = 100_000;

/** A part of a rule: one verb on one resource or path, with at most one name. */
type Permission = PolicyRule;

/**
 * Returns the single permissions that `wanted` grants and `held` does not.
 * @throws TooManyPermissions when more than `checkedPermissionsMax` would be checked
 */
export function missingPermissions(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): Permission[] {
  const index = new GrantIndex<true>();
  for (const rule of held) index.add(rule, true);
  const missing: Permission[] = [];
  let looked = 0;
  for (const rule of wanted) {
    looked += permissionCount(rule);
    if (looked > checkedPermissionsMax) throw new TooManyPermissions();
    for (const permission of permissionsOf(rule)) if (!isHeld(index, permission)) missing.push(permission);
  }
  return missing;
}

export class TooManyPermissions extends Error {
  constructor() {
    super(`more than ${checkedPermissionsMax} permissions to check`);
    this.name = "TooManyPermissions";
  }
}

/** Formats permissions for a message, sorted, with the verbs on the same resource joined. */
export function permissionTexts(permissions: readonly Permission[]): string[] {
  const byTarget = new Map<string, Permission & { readonly verbs: string[] }>();
  for (const permission of permissions) {
    const { verbs, ...target } = permission;
    // Paths are not joined.
    const isPath = permission.nonResourceURLs.length > 0;
    const key = JSON.stringify(isPath ? permission : target);
    const known = byTarget.get(key);
    if (known === undefined) byTarget.set(key, { ...permission, verbs: [...verbs] });
    else if (!isPath) known.verbs.push(...verbs);
  }
  return [...new Set([...byTarget.values()].map(policyRuleText))].sort();
}

function permissionCount({ apiGroups, resources, resourceNames, nonResourceURLs, verbs }: PolicyRule): number {
  const onResources = apiGroups.length * resources.length * Math.max(1, resourceNames.length);
  return verbs.length * (onResources + nonResourceURLs.length);
}

const nothing: Permission = { verbs: [], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] };

function* permissionsOf(rule: PolicyRule): Generator<Permission> {
  const names = rule.resourceNames.length === 0 ? [[]] : rule.resourceNames.map((name) => [name]);
  for (const group of rule.apiGroups) {
    for (const resource of rule.resources) {
      for (const verb of rule.verbs) {
        for (const resourceNames of names) {
          yield { ...nothing, apiGroups: [group], resources: [resource], verbs: [verb], resourceNames };
        }
      }
    }
  }
  for (const url of rule.nonResourceURLs) {
    for (const verb of rule.verbs) yield { ...nothing, nonResourceURLs: [url], verbs: [verb] };
  }
}

/** Reports whether one rule grants the whole permission. Only a wildcard grants a wildcard. */
function isHeld(index: GrantIndex<true>, permission: Permission): boolean {
  const [verb = ""] = permission.verbs;
  const [url] = permission.nonResourceURLs;
  if (url !== undefined) return index.findPath(url, verb) === true;
  const [full = ""] = permission.resources;
  const slash = full.indexOf("/");
  const isSubresource = slash !== -1 && slash < full.length - 1;
  const found = index.findAction({
    group: permission.apiGroups[0] ?? "",
    resource: isSubresource ? full.slice(0, slash) : full,
    subresource: isSubresource ? full.slice(slash + 1) : "",
    verb,
    name: permission.resourceNames[0],
  });
  return found === true;
}

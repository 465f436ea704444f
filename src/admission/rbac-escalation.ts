import { everyRule } from "../access/authorization/always-allow.ts";
import type { Authorizer } from "../access/authorization/authorizer.ts";
import { missingPermissions, permissionTexts, TooManyPermissions } from "../access/authorization/rbac/covers.ts";
import { type PolicyRule, policyRules, quotedList } from "../access/authorization/rbac/policy-rule.ts";
import type { RbacPolicy } from "../access/authorization/rbac/rbac-policy.ts";
import { systemMastersGroup } from "../access/authorization/system-masters.ts";
import { equalJson, type JsonObject } from "../api/json.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { type StatusError, status } from "../api/status.ts";
import type { ClusterRole, RoleBinding } from "../api/types/rbac-v1.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../registry/admission.ts";

const rbacGroup = "rbac.authorization.k8s.io";

export interface RbacEscalationParts {
  readonly policy: RbacPolicy;
  /** Authorizer of the verbs `escalate` and `bind`. */
  readonly authorizer: Authorizer;
}

/**
 * Prevents users from granting more permissions than they have. A role may only contain rules that its writer has,
 * unless they may `escalate`. A binding may only refer to a role whose rules its writer has, unless they may `bind` it.
 * It checks the object as it will be stored, which covers every verb, patch and dry run. It cannot be disabled.
 */
export function rbacEscalation(parts: RbacEscalationParts): AdmissionPlugin {
  return {
    name: "RBACEscalation",
    validate(attributes) {
      const { info, operation, user, object, oldObject, subresource } = attributes;
      if (info.group !== rbacGroup || operation === "DELETE" || subresource !== "" || object === undefined) return;
      if (user.groups.includes(systemMastersGroup)) return;
      if (oldObject !== undefined && changesOnlyForCollection(object, oldObject)) return;
      const isRole = info.resource === "roles" || info.resource === "clusterroles";
      return isRole ? checkRole(parts, attributes, object) : checkBinding(parts, attributes, object);
    },
  };
}

async function checkRole(parts: RbacEscalationParts, attributes: AdmissionAttributes, role: KubeObject): Promise<void> {
  const { info, operation, oldObject } = attributes;
  // As for every creation, there is no name to authorize.
  const name = operation === "CREATE" ? "" : attributes.name;
  if (await isAllowed(parts, attributes, { verb: "escalate", resource: info.resource, name })) return;
  refuseMissing(parts, attributes, policyRules((role as ClusterRole).rules));
  const aggregates = isAggregated(role) || (oldObject !== undefined && isAggregated(oldObject));
  if (!aggregates || missing(parts, attributes, everyRule).length === 0) return;
  throw forbidden(attributes, "must have cluster-admin privileges to use the aggregationRule");
}

async function checkBinding(
  parts: RbacEscalationParts,
  attributes: AdmissionAttributes,
  binding: KubeObject,
): Promise<void> {
  const { kind, name } = (binding as RoleBinding).roleRef;
  const resource = kind === "ClusterRole" ? "clusterroles" : "roles";
  if (await isAllowed(parts, attributes, { verb: "bind", resource, name })) return;
  const rules = parts.policy.roleRules(kind, name, attributes.namespace);
  // Upstream names the resource of the request, not that of the role.
  if (rules === undefined) throw status.notFound({ group: rbacGroup, resource: attributes.info.resource, name });
  refuseMissing(parts, attributes, rules);
}

async function isAllowed(
  { authorizer }: RbacEscalationParts,
  { user, namespace }: AdmissionAttributes,
  action: { readonly verb: string; readonly resource: string; readonly name: string },
): Promise<boolean> {
  const place = { group: rbacGroup, version: "v1", subresource: "", namespace };
  try {
    return (await authorizer.authorize(user, { kind: "resource", ...place, ...action })).kind === "allow";
  } catch {
    // An authorizer that fails never allows. The user's own rules still count.
    return false;
  }
}

function refuseMissing(
  parts: RbacEscalationParts,
  attributes: AdmissionAttributes,
  wanted: readonly PolicyRule[],
): void {
  const lacking = missing(parts, attributes, wanted);
  if (lacking.length === 0) return;
  const { user, namespace } = attributes;
  const who = `user ${JSON.stringify(user.name)} (groups=${quotedList(user.groups)})`;
  const text = `${who} is attempting to grant RBAC permissions not currently held:\n${permissionTexts(lacking).join("\n")}`;
  const { errors } = parts.policy.rulesFor(user, namespace);
  throw forbidden(attributes, errors.length === 0 ? text : `${text}; resolution errors: [${errors.join(", ")}]`);
}

function missing(
  { policy }: RbacEscalationParts,
  attributes: AdmissionAttributes,
  wanted: readonly PolicyRule[],
): PolicyRule[] {
  try {
    return missingPermissions(policy.rulesFor(attributes.user, attributes.namespace).rules, wanted);
  } catch (error) {
    if (error instanceof TooManyPermissions) throw forbidden(attributes, error.message);
    throw error;
  }
}

function isAggregated(role: KubeObject): boolean {
  return (role as ClusterRole).aggregationRule !== undefined;
}

/**
 * Reports whether only owners and finalizers change, which the garbage collector must be able to do without having the
 * permissions itself.
 */
function changesOnlyForCollection(object: KubeObject, old: KubeObject): boolean {
  return equalJson(withoutCollectionFields(object), withoutCollectionFields(old));
}

function withoutCollectionFields({ metadata, ...rest }: KubeObject): JsonObject {
  const { ownerReferences: _owners, finalizers: _finalizers, managedFields: _fields, ...kept } = metadata;
  const { resourceVersion: _resourceVersion, ...identity } = kept;
  return { ...rest, metadata: identity } as unknown as JsonObject;
}

function forbidden({ info, name }: AdmissionAttributes, why: string): StatusError {
  return status.forbidden({ group: info.group, resource: info.resource, name }, why);
}

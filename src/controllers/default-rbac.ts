import { aggregationManager } from "../access/authorization/rbac/aggregate.ts";
import { defaultObjects, type IsGateOn } from "../access/authorization/rbac/bootstrap/default-objects.ts";
import { reconcile } from "../access/authorization/rbac/bootstrap/reconcile.ts";
import { cloneJson, type JsonObject } from "../api/json.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { StatusError } from "../api/status.ts";
import type { Clock } from "../process/clock.ts";
import { plainDeletion } from "../registry/delete-options.ts";
import type { Registries } from "../registry/registries.ts";
import type { Registry } from "../registry/registry.ts";
import { applyAsServer } from "../registry/server-apply.ts";
import { serverContext } from "../registry/server-context.ts";

/** Maximum number of attempts. Another replica may be doing the same, but more collisions indicate another problem. */
const triesMax = 5;

/** The registries of the four kinds. */
export interface RbacRegistries {
  readonly roles: Registry;
  readonly clusterRoles: Registry;
  readonly roleBindings: Registry;
  readonly clusterRoleBindings: Registry;
}

/** Returns the registries, or undefined if the group is not served. */
export function rbacRegistries(registries: Registries): RbacRegistries | undefined {
  const find = (resource: string) => registries.find({ group: "rbac.authorization.k8s.io", resource });
  const roles = find("roles");
  const clusterRoles = find("clusterroles");
  const roleBindings = find("rolebindings");
  const clusterRoleBindings = find("clusterrolebindings");
  if (!roles || !clusterRoles || !roleBindings || !clusterRoleBindings) return undefined;
  return { roles, clusterRoles, roleBindings, clusterRoleBindings };
}

/**
 * Creates the default roles and bindings, and adds missing parts to existing ones. Starts all of them at once, so that
 * the store writes them together. Resolves when everything exists.
 */
export async function ensureDefaultRbac(registries: RbacRegistries, clock: Clock, isOn: IsGateOn): Promise<void> {
  const byKind: Readonly<Record<string, Registry>> = {
    Role: registries.roles,
    ClusterRole: registries.clusterRoles,
    RoleBinding: registries.roleBindings,
    ClusterRoleBinding: registries.clusterRoleBindings,
  };
  await Promise.all(defaultObjects(isOn).map((expected) => ensure(byKind[expected.kind] as Registry, clock, expected)));
}

async function ensure(registry: Registry, clock: Clock, expected: KubeObject): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await ensureOnce(registry, clock, expected);
    } catch (error) {
      const collided = error instanceof StatusError && (error.code === 409 || error.code === 404);
      if (!collided || tries === triesMax) throw error;
    }
  }
}

async function ensureOnce(registry: Registry, clock: Clock, expected: KubeObject): Promise<void> {
  const { name = "", namespace = "" } = expected.metadata;
  const existing = registry.current(namespace, name);
  if (existing === undefined) {
    if (expected["aggregationRule"] !== undefined) return createAggregated(registry, clock, expected);
    await registry.create(copyOf(expected), namespace, serverContext);
    return;
  }
  const next = reconcile(existing, expected);
  if (next.kind === "unchanged") return;
  if (next.kind === "update") {
    await registry.update(namespace, name, () => next.object, serverContext);
    return;
  }
  await registry.delete(namespace, name, plainDeletion, serverContext);
  await registry.create(copyOf(expected), namespace, serverContext);
}

/** Copies an object, because a registry changes the one that it creates. */
function copyOf(object: KubeObject): KubeObject {
  return cloneJson(object as unknown as JsonObject) as unknown as KubeObject;
}

/** Creates a role whose rules belong to the controller that aggregates them from now on. */
async function createAggregated(registry: Registry, clock: Clock, expected: KubeObject): Promise<void> {
  const { rules, ...selecting } = copyOf(expected);
  await registry.create(selecting as KubeObject, "", serverContext);
  const { apiVersion, kind, metadata } = expected;
  const { name = "" } = metadata;
  const document = { apiVersion, kind, metadata: { name }, rules } as JsonObject;
  await applyAsServer({ registry, clock, manager: aggregationManager }, name, document);
}

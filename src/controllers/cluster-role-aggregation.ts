import type { Clock } from "../api/clock.ts";
import type { JsonValue } from "../api/json.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { StatusError } from "../api/status.ts";
import { systemUser } from "../access/authentication/system-user.ts";
import { aggregatedRules, hasRules } from "../access/authorization/rbac/aggregate.ts";
import type { Registry } from "../registry/registry.ts";
import type { WriteContext } from "../registry/write-context.ts";
import type { Store } from "../storage/store.ts";
import { followObjects, WorkQueue } from "./work-queue.ts";

const context: WriteContext = {
  user: systemUser,
  manager: "clusterrole-aggregation-controller",
  dryRun: false,
  warn() {},
};

export interface ClusterRoleAggregationParts {
  readonly clusterRoles: Registry;
  readonly store: Store;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Fills aggregated ClusterRoles with the rules of the roles that they select, whenever a ClusterRole changes. */
export function startClusterRoleAggregation(parts: ClusterRoleAggregationParts): Disposable {
  const { store, clock, clusterRoles, onError } = parts;
  const { keyPrefix } = clusterRoles.info;
  const running = new DisposableStack();
  // All of them at a time, under one key: each may be selected by several others.
  const queue = running.use(new WorkQueue({ clock, onError, work: () => aggregate(clusterRoles) }));
  running.use(followObjects(store, keyPrefix, () => queue.add(keyPrefix)));
  return running;
}

async function aggregate(clusterRoles: Registry): Promise<void> {
  const roles = await allOf(clusterRoles);
  for (const role of roles) {
    const rules = aggregatedRules(role, roles);
    if (rules === undefined || hasRules(role, rules)) continue;
    await write(clusterRoles, role.metadata.name ?? "", rules);
  }
}

async function write(clusterRoles: Registry, name: string, rules: JsonValue[]): Promise<void> {
  try {
    await clusterRoles.update("", name, (old) => ({ ...old, rules }), context, { reapplies: true });
  } catch (error) {
    if (!(error instanceof StatusError && error.code === 404)) throw error;
  }
}

async function allOf(clusterRoles: Registry): Promise<KubeObject[]> {
  const { keyPrefix } = clusterRoles.info;
  const page = await clusterRoles.cacher.list({ prefix: keyPrefix });
  return page.entries.flatMap(({ key }) => clusterRoles.current("", key.slice(keyPrefix.length)) ?? []);
}

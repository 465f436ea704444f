import { aggregatedRules, aggregationManager, hasRules } from "../access/authorization/rbac/aggregate.ts";
import type { JsonValue } from "../api/json.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { StatusError } from "../api/status.ts";
import type { Client, ResourceType } from "../client/client.ts";
import { Informer } from "../client/informer.ts";
import type { Clock } from "../process/clock.ts";
import { type QueueSource, WorkQueue } from "./work-queue.ts";

export const clusterRoles: ResourceType = {
  group: "rbac.authorization.k8s.io",
  version: "v1",
  resource: "clusterroles",
};
/** One key for all roles, because several others may select each role. */
const everyRole = "every role";
/** Time from a change to the aggregation, so that the roles of one release are aggregated together. */
const settleMs = 500;

export interface ClusterRoleAggregationParts extends QueueSource {
  readonly client: Client;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Fills aggregated ClusterRoles with the rules of the roles that they select, whenever a ClusterRole changes. */
export function startClusterRoleAggregation({
  client,
  clock,
  observeQueue,
  onError,
}: ClusterRoleAggregationParts): Disposable {
  const running = new DisposableStack();
  const work = () => aggregate(client, [...roles.objects()]);
  const queue = running.use(new WorkQueue({ name: "ClusterRoleAggregator", clock, observeQueue, onError, work }));
  const look = () => queue.addAfter(everyRole, settleMs);
  const changes = { added: look, updated: look, deleted: look };
  const roles = running.use(
    new Informer({ client, type: clusterRoles, clock, random: Math.random, onError, ...changes }),
  );
  return running;
}

async function aggregate(client: Client, roles: readonly KubeObject[]): Promise<void> {
  for (const role of roles) {
    const rules = aggregatedRules(role, roles);
    if (rules === undefined || hasRules(role, rules)) continue;
    await write(client, role, rules);
  }
}

/**
 * The uid keeps the apply from creating a role that was just deleted. If no roles are selected, the controller gives up
 * the rules, as upstream does. Rules that others have written stay.
 */
async function write(client: Client, { metadata: { name = "", uid = "" } }: KubeObject, rules: JsonValue[]) {
  const apiVersion = `${clusterRoles.group}/${clusterRoles.version}`;
  const document = { apiVersion, kind: "ClusterRole", metadata: { name, uid }, ...(rules.length > 0 && { rules }) };
  try {
    await client.patch(
      clusterRoles,
      { name },
      { kind: "apply", document, force: true },
      { fieldManager: aggregationManager },
    );
  } catch (error) {
    if (!(error instanceof StatusError && (error.code === 404 || error.code === 409))) throw error;
  }
}

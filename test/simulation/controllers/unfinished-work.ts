import type { Entry, Key } from "../../../src/api/entry.ts";
import type { Job } from "../../../src/api/types/batch-v1.ts";
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod, Service } from "../../../src/api/types/core-v1.ts";
import type { EndpointSlice } from "../../../src/api/types/discovery-v1.ts";
import type { PodDisruptionBudget } from "../../../src/api/types/policy-v1.ts";
import { uidOf } from "../../../src/storage/object-uid.ts";
import { objectOf, prefixes } from "./cluster-objects.ts";

interface Cluster {
  readonly entries: ReadonlyMap<Key, Entry>;
  readonly uids: ReadonlySet<string>;
  readonly silent: ReadonlySet<string>;
}

/**
 * Returns what the controllers still have to do in this state; undefined if everything is as it must be in the end.
 * @param silent nodes whose agents are silent
 */
export function unfinishedWork(state: readonly Entry[], silent: ReadonlySet<string>): string | undefined {
  const entries = new Map(state.map((entry) => [entry.key, entry]));
  const cluster = { entries, uids: new Set(state.map(uidOf)), silent };
  for (const entry of state) {
    const problem = problemOf(entry, cluster);
    if (problem !== undefined) return `${entry.key}: ${problem}`;
  }
  return undefined;
}

function problemOf(entry: Entry, cluster: Cluster): string | undefined {
  const { key } = entry;
  if (key.startsWith(prefixes.events) || !key.startsWith("/registry/")) return undefined;
  const { metadata } = objectOf(entry);
  if (metadata === undefined) return undefined;
  const { namespace, ownerReferences = [] } = metadata;
  const home = namespace === undefined ? undefined : cluster.entries.get(`${prefixes.namespaces}${namespace}`);
  if (namespace !== undefined && home === undefined) return "has no namespace";
  if (ownerReferences.some(({ uid }) => !cluster.uids.has(uid))) return "names an owner that is gone";
  // A namespace that is being deleted takes no new objects, and the old ones wait for its pods.
  if (home !== undefined && objectOf(home).metadata.deletionTimestamp !== undefined) return undefined;
  const rules = [
    [prefixes.namespaces, namespaceProblem],
    [prefixes.nodes, nodeProblem],
    [prefixes.pods, podProblem],
    [prefixes.services, serviceProblem],
    [prefixes.claims, claimProblem],
    [prefixes.volumes, volumeProblem],
    [prefixes.jobs, jobProblem],
    [prefixes.budgets, budgetProblem],
  ] as const;
  return rules.find(([prefix]) => key.startsWith(prefix))?.[1](entry, cluster);
}

function namespaceProblem(entry: Entry, cluster: Cluster): string | undefined {
  const { name, deletionTimestamp } = objectOf(entry).metadata;
  if (deletionTimestamp === undefined) return undefined;
  // Only the agent of its node can end a pod.
  const waits = objectsIn<Pod>(`${prefixes.pods}${name}/`, cluster).some((pod) => isOnSilentNode(pod, cluster));
  return waits ? undefined : "is not gone yet";
}

function nodeProblem(entry: Entry, cluster: Cluster): string | undefined {
  const { metadata, spec, status } = objectOf<Node>(entry);
  if (spec?.podCIDR === undefined) return "has no addresses for pods";
  if (metadata.annotations?.["node.alpha.kubernetes.io/ttl"] !== "0") return "has no time to live";
  const ready = status?.conditions?.find(({ type }) => type === "Ready")?.status;
  const taints = (spec.taints ?? []).map(({ effect }) => effect);
  if (cluster.silent.has(metadata.name ?? "")) {
    const isTainted = taints.includes("NoSchedule") && (taints.includes("NoExecute") || !evicts(cluster));
    return ready === "Unknown" && isTainted ? undefined : "is silent";
  }
  return ready === "True" && taints.length === 0 ? undefined : "is well, and does not look so";
}

/** Reports whether the nodes are well enough for the pods of the others to be evicted. */
function evicts({ entries, silent }: Cluster): boolean {
  const nodes = [...entries.keys()].filter((key) => key.startsWith(prefixes.nodes));
  const down = nodes.filter((key) => silent.has(key.slice(prefixes.nodes.length))).length;
  return down < nodes.length && down < 3;
}

function isOnSilentNode({ spec }: Pod, { entries, silent }: Cluster): boolean {
  const node = spec?.nodeName ?? "";
  return silent.has(node) && entries.has(`${prefixes.nodes}${node}`);
}

function podProblem(entry: Entry, cluster: Cluster): string | undefined {
  const { entries } = cluster;
  const pod = objectOf<Pod>(entry);
  const { metadata, spec, status } = pod;
  const { namespace = "", name = "" } = metadata;
  const node = spec?.nodeName ?? "";
  if (!entries.has(`${prefixes.nodes}${node}`)) return "is on a missing node";
  const isReady = status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true;
  if (isOnSilentNode(pod, cluster)) {
    const isEvicted = metadata.deletionTimestamp !== undefined || !evicts(cluster);
    return isEvicted && !isReady ? undefined : "is on a silent node";
  }
  if (metadata.deletionTimestamp !== undefined || !isReady) return "is not settled";
  const volume = spec?.volumes?.find(({ ephemeral }) => ephemeral !== undefined);
  if (volume !== undefined && !entries.has(`${prefixes.claims}${namespace}/${name}-${volume.name}`)) {
    return "has no claim for its volume";
  }
  const wants = spec?.resourceClaims?.length ?? 0;
  const hasTemplate = entries.has(`/registry/resourceclaimtemplates/${namespace}/gpu`);
  if (hasTemplate && (status?.resourceClaimStatuses ?? []).length < wants) return "has no claim for its device";
  return undefined;
}

function serviceProblem(entry: Entry, cluster: Cluster): string | undefined {
  const { metadata, spec } = objectOf<Service>(entry);
  const { namespace = "", name } = metadata;
  const expected = podsOf(namespace, cluster).flatMap(({ status }) => status?.podIP ?? []);
  const slices = objectsIn<EndpointSlice>(`${prefixes.slices}${namespace}/`, cluster);
  const found = slices
    .filter((slice) => slice.metadata.labels?.["kubernetes.io/service-name"] === name)
    .flatMap(({ endpoints }) => (endpoints ?? []).flatMap(({ addresses }) => addresses));
  const [want, got] = [expected, found].map((addresses) => addresses.toSorted().join());
  return spec?.selector === undefined || want === got ? undefined : `has ${got} in slices, and its pods ${want}`;
}

function budgetProblem(entry: Entry, cluster: Cluster): string | undefined {
  const { metadata, status } = objectOf<PodDisruptionBudget>(entry);
  const pods = podsOf(metadata.namespace ?? "", cluster);
  const healthy = pods.filter(({ metadata, status }) => {
    const isReady = status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true;
    return isReady && metadata.deletionTimestamp === undefined;
  }).length;
  return status?.currentHealthy === healthy ? undefined : `counts ${status?.currentHealthy} of ${healthy}`;
}

function jobProblem(entry: Entry): string | undefined {
  const isFinished = objectOf<Job>(entry).status?.conditions?.some(({ type }) => type === "Complete") === true;
  return isFinished ? "has had its time" : undefined;
}

function claimProblem(entry: Entry, cluster: Cluster): string | undefined {
  const { metadata } = objectOf<PersistentVolumeClaim>(entry);
  if (metadata.deletionTimestamp === undefined) return undefined;
  const users = objectsIn<Pod>(`${prefixes.pods}${metadata.namespace}/`, cluster).filter(({ spec }) =>
    (spec?.volumes ?? []).some((volume) => volume.persistentVolumeClaim?.claimName === metadata.name),
  );
  return users.length > 0 ? undefined : "is not gone yet";
}

function volumeProblem(entry: Entry): string | undefined {
  return objectOf<PersistentVolume>(entry).metadata.deletionTimestamp === undefined ? undefined : "is not gone yet";
}

/** Returns the pods that services and budgets select. */
function podsOf(namespace: string, cluster: Cluster): Pod[] {
  const pods = objectsIn<Pod>(`${prefixes.pods}${namespace}/`, cluster);
  return pods.filter(({ metadata }) => metadata.labels?.["app"] === "web");
}

function objectsIn<T>(prefix: Key, { entries }: Cluster): T[] {
  return [...entries].filter(([key]) => key.startsWith(prefix)).map(([, entry]) => objectOf<T>(entry));
}

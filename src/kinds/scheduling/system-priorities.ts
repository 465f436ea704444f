/** Priority of pods without which a cluster does not work. */
export const clusterCriticalPriority = 2_000_000_000;
/** Priority of pods without which a node does not work, and which cannot run on another one. */
export const nodeCriticalPriority = 2_000_001_000;

/** Priorities of the classes of the system, by their names. */
export const systemPriorities: ReadonlyMap<string, number> = new Map([
  ["system-cluster-critical", clusterCriticalPriority],
  ["system-node-critical", nodeCriticalPriority],
]);

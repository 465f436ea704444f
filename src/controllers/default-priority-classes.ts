import type { KubeObject } from "../api/object-meta.ts";
import { StatusError } from "../api/status.ts";
import { clusterCriticalPriority, nodeCriticalPriority } from "../kinds/scheduling/system-priorities.ts";
import type { Registries } from "../registry/registries.ts";
import { serverContext } from "../registry/server-context.ts";

const classes: readonly { name: string; value: number; description: string }[] = [
  {
    name: "system-node-critical",
    value: nodeCriticalPriority,
    description: "For pods without which a node does not work, and which cannot run on another one.",
  },
  {
    name: "system-cluster-critical",
    value: clusterCriticalPriority,
    description: "For pods without which the cluster does not work; they may run on any node.",
  },
];

/** Creates the missing system priority classes. Existing ones stay unchanged. */
export async function ensurePriorityClasses(registries: Pick<Registries, "find">): Promise<void> {
  const registry = registries.find({ group: "scheduling.k8s.io", resource: "priorityclasses" });
  if (registry === undefined) return;
  const missing = classes.filter(({ name }) => registry.current("", name) === undefined);
  await Promise.all(
    missing.map(async (priorityClass) => {
      try {
        await registry.create(objectOf(priorityClass), "", serverContext);
      } catch (error) {
        // Another replica was faster.
        if (!(error instanceof StatusError && error.reason === "AlreadyExists")) throw error;
      }
    }),
  );
}

function objectOf({ name, value, description }: (typeof classes)[number]): KubeObject {
  return {
    kind: "PriorityClass",
    apiVersion: "scheduling.k8s.io/v1",
    metadata: { name },
    value,
    globalDefault: false,
    description,
  };
}

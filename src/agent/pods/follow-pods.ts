import type { Pod } from "../../api/types/core-v1.ts";
import type { Client, ResourceType } from "../../client/client.ts";
import { Informer } from "../../client/informer.ts";
import type { Clock } from "../../process/clock.ts";
import type { PodManager } from "./pod-manager.ts";
import { keepApiPod } from "./pod-source.ts";

const pods: ResourceType<Pod> = { group: "", version: "v1", resource: "pods" };

export interface FollowPodsOptions {
  readonly client: Pick<Client, "list" | "watch">;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  /** Name of the node, or undefined for the pods of all nodes. */
  readonly nodeName?: string | undefined;
  /** Prepares a pod in place before it is kept, after its own preparation. */
  readonly prepare?: ((pod: Pod) => void) | undefined;
  /** Returns the manager of the pods of a node; undefined if the node belongs to another agent. */
  readonly managerOf: (nodeName: string) => PodManager | undefined;
  readonly onError: (error: unknown) => void;
}

/**
 * Tells the managers of one or many nodes about their pods, with a single watch. Static pods of a node have to be known
 * before, because containers of unknown pods are ended.
 */
export function followPods(options: FollowPodsOptions): Informer<Pod> {
  const { managerOf, nodeName, prepare } = options;
  const nodeOf = ({ spec }: Pod) => spec?.nodeName ?? "";
  // Until all pods are known, none is judged.
  let isListed = false;
  const manager = (pod: Pod) => (isListed ? managerOf(nodeOf(pod)) : undefined);
  const informer = new Informer<Pod>({
    ...options,
    type: pods,
    selector: { fieldSelector: nodeName === undefined ? "spec.nodeName!=" : `spec.nodeName=${nodeName}` },
    prepare(pod) {
      keepApiPod(pod);
      prepare?.(pod);
    },
    added: (pod) => manager(pod)?.podChanged(pod),
    updated: (pod) => manager(pod)?.podChanged(pod),
    deleted: (pod) => manager(pod)?.podGone(pod),
  });
  void informer.synced.then(() => {
    isListed = true;
    for (const [name, listed] of Map.groupBy(informer.objects(), nodeOf)) managerOf(name)?.podsListed(listed);
    if (nodeName !== undefined) void managerOf(nodeName)?.endOrphans();
  });
  return informer;
}

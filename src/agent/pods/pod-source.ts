import type { Pod } from "../../api/types/core-v1.ts";
import { clusterCriticalPriority } from "../../kinds/scheduling/system-priorities.ts";

export const sourceAnnotation = "kubernetes.io/config.source";
/** Hash of the file of a static pod. */
export const hashAnnotation = "kubernetes.io/config.hash";
/** The same hash, in the mirror. */
export const mirrorAnnotation = "kubernetes.io/config.mirror";
/** Time at which the file of a static pod was first seen. */
export const seenAnnotation = "kubernetes.io/config.seen";

/** Reports whether a pod comes from the node itself and not from the API. */
export function isStaticPod({ metadata: { annotations = {} } }: Pick<Pod, "metadata">): boolean {
  const source = annotations[sourceAnnotation];
  return source !== undefined && source !== "api";
}

/** Reports whether an API object shows a static pod of a node. */
export function isMirrorPod({ metadata: { annotations = {} } }: Pick<Pod, "metadata">): boolean {
  return annotations[mirrorAnnotation] !== undefined;
}

/** Reports whether a node keeps a pod although it is short of resources. */
export function isCriticalPod(pod: Pod): boolean {
  return isStaticPod(pod) || isMirrorPod(pod) || (pod.spec?.priority ?? 0) >= clusterCriticalPriority;
}

/** Prepares a pod from the API to be kept. Changes it in place. */
export function keepApiPod({ metadata }: Pod): void {
  // The agent never reads this, the largest part of an object.
  delete metadata.managedFields;
  // Users can set the annotation too. Such a pod is not static.
  const { annotations } = metadata;
  if (annotations?.[sourceAnnotation] !== undefined) {
    metadata.annotations = { ...annotations, [sourceAnnotation]: "api" };
  }
}

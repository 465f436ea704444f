import type { KubeObject } from "../api/object-meta.ts";
import type { Container, EphemeralContainer, Pod, PodSpec } from "../api/types/core-v1.ts";

const mirrorAnnotation = "kubernetes.io/config.mirror";

/** Reports whether a node created the pod from its own files. */
export function isMirrorPod({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[mirrorAnnotation] !== undefined;
}

/** Returns init containers, containers and ephemeral containers, in this order. */
export function containersOf(spec: PodSpec): (Container | EphemeralContainer)[] {
  const { initContainers = [], containers, ephemeralContainers = [] } = spec;
  return [...initContainers, ...(containers ?? []), ...ephemeralContainers];
}

/** Returns the spec of a pod. One without a spec has no containers either. */
export function podSpecOf({ spec = { containers: null } }: Pod): PodSpec {
  return spec;
}

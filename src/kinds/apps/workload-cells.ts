import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { PodTemplateSpec } from "../../api/types/core-v1.ts";

/** Returns the containers and images of the pods that a template describes. */
export function templateCells(template: PodTemplateSpec | undefined): Cells {
  const containers = template?.spec?.containers ?? [];
  return {
    Containers: containers.map(({ name }) => name).join(","),
    Images: containers.map(({ image = "" }) => image).join(","),
  };
}

/** A kind that keeps a number of equal pods. */
interface Replicated {
  readonly spec?: { replicas?: number; template?: PodTemplateSpec };
  readonly status?: { replicas: number; readyReplicas?: number };
}

/** Returns the cells of ReplicaSets and ReplicationControllers other than the selector. */
export function replicaCells({ spec, status }: Replicated): Cells {
  return {
    Desired: spec?.replicas ?? 0,
    Current: status?.replicas ?? 0,
    Ready: status?.readyReplicas ?? 0,
    ...templateCells(spec?.template),
  };
}

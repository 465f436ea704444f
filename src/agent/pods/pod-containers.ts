import type { Container, Pod } from "../../api/types/core-v1.ts";

/**
 * Place of a container in the life of its pod: `init` runs to its end before the next one starts, `sidecar` is an init
 * container that keeps running, `ephemeral` was added to a running pod.
 */
export type ContainerRole = "init" | "sidecar" | "regular" | "ephemeral";

export interface PodContainer {
  readonly spec: Container;
  readonly role: ContainerRole;
}

/** Returns the containers of a pod in the order in which they start. */
export function containersOf({ spec }: Pod): readonly PodContainer[] {
  return [
    ...(spec?.initContainers ?? []).map((one) => ({ spec: one, role: isSidecar(one) ? "sidecar" : "init" }) as const),
    ...(spec?.containers ?? []).map((one) => ({ spec: one, role: "regular" }) as const),
    ...(spec?.ephemeralContainers ?? []).map((one) => ({ spec: one as Container, role: "ephemeral" }) as const),
  ];
}

/** Reports whether an init container keeps running beside the containers that follow it. */
export function isSidecar({ restartPolicy }: Container): boolean {
  return restartPolicy === "Always";
}

const fieldOf = {
  init: "initContainers",
  sidecar: "initContainers",
  regular: "containers",
  ephemeral: "ephemeralContainers",
} as const satisfies Record<ContainerRole, string>;

/** Returns the path of a container in its pod, as Events name it. */
export function containerFieldPath({ spec, role }: PodContainer): string {
  return `spec.${fieldOf[role]}{${spec.name}}`;
}

/** Returns the name of a pod in messages. */
export function podText({ metadata: { name = "", namespace = "", uid = "" } }: Pod): string {
  return `${name}_${namespace}(${uid})`;
}

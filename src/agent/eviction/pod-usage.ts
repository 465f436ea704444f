import { podRequests } from "../../admission/pod-resources.ts";
import { nanosPerUnit, parseQuantity } from "../../api/quantity.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import type { EvictionSignal } from "../node/machine.ts";

/** The supplies of a node for which pods are evicted, with the names that messages have. */
export type StarvedResource = "memory" | "ephemeral-storage" | "inodes" | "pids";

/** The resource that is short when a signal is below its limit. */
export const resourceOf: Readonly<Record<EvictionSignal, StarvedResource>> = {
  "memory.available": "memory",
  "nodefs.available": "ephemeral-storage",
  "nodefs.inodesFree": "inodes",
  "imagefs.available": "ephemeral-storage",
  "imagefs.inodesFree": "inodes",
  "pid.available": "pids",
};

export interface DiskUsage {
  readonly bytes: number;
  /** Files and directories. */
  readonly inodes: number;
}

export interface ContainerUsage {
  readonly name: string;
  readonly memoryBytes: number;
  /** The log and what the container has written outside of volumes; undefined if that was not measured. */
  readonly disk: DiskUsage | undefined;
}

/** The consumption of a pod. */
export interface PodUsage {
  readonly containers: readonly ContainerUsage[];
  /** Volumes on the node's disk that go with the pod, by name. */
  readonly volumes: ReadonlyMap<string, DiskUsage>;
}

/** Returns how much a pod uses of a resource, in bytes or numbers. */
export function usedBy({ containers, volumes }: PodUsage, resource: StarvedResource): number {
  const disks = [...containers.flatMap(({ disk }) => disk ?? []), ...volumes.values()];
  switch (resource) {
    case "memory":
      return sum(containers.map(({ memoryBytes }) => memoryBytes));
    case "ephemeral-storage":
      return sum(disks.map(({ bytes }) => bytes));
    case "inodes":
      return sum(disks.map(({ inodes }) => inodes));
    case "pids":
      // Runtimes do not count processes.
      return 0;
  }
}

/** Returns the request of a pod for a resource. Nothing can be requested of inodes and processes. */
export function requestedBy({ spec = { containers: null } }: Pod, resource: StarvedResource): number {
  return units(podRequests(spec).get(resource)?.nanos ?? 0n);
}

/** Returns the number of bytes of a quantity. */
export function bytesOf(quantity: string | number): number {
  return units(parseQuantity(String(quantity)).nanos);
}

function units(nanos: bigint): number {
  return Number(nanos) / Number(nanosPerUnit);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

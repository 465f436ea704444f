import type { Container, Pod } from "../../api/types/core-v1.ts";
import { podResources } from "../pods/pod-resources.ts";
import { bytesOf, type PodUsage, usedBy } from "./pod-usage.ts";

const resource = "ephemeral-storage";

/** A limit of storage that a pod exceeds. */
export interface StorageExcess {
  /** The name of the limit in metrics. */
  readonly signal: "emptydirfs.limit" | "ephemeralpodfs.limit" | "ephemeralcontainerfs.limit";
  readonly message: string;
}

/** Reports whether limits of storage apply to a pod, which the agent has to watch. */
export function hasStorageLimits({ spec }: Pod): boolean {
  if (spec?.resources?.limits?.[resource] !== undefined) return true;
  const containers: readonly Container[] = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  if (containers.some(({ resources }) => resources?.limits?.[resource] !== undefined)) return true;
  return (spec?.volumes ?? []).some(({ emptyDir }) => emptyDir?.sizeLimit !== undefined);
}

/** Returns upstream's words about a pod that uses more of the node's disk than it may; undefined if it does not. */
export function storageExcess(pod: Pod, usage: PodUsage): StorageExcess | undefined {
  return volumeExcess(pod, usage) ?? podExcess(pod, usage) ?? containerExcess(pod, usage);
}

function volumeExcess({ spec }: Pod, { volumes }: PodUsage): StorageExcess | undefined {
  for (const { name, emptyDir } of spec?.volumes ?? []) {
    const limit = emptyDir?.sizeLimit;
    const used = volumes.get(name)?.bytes;
    if (limit === undefined || used === undefined || bytesOf(limit) <= 0 || used <= bytesOf(limit)) continue;
    const message = `Usage of EmptyDir volume ${JSON.stringify(name)} exceeds the limit ${JSON.stringify(String(limit))}. `;
    return { signal: "emptydirfs.limit", message };
  }
  return undefined;
}

function podExcess(pod: Pod, usage: PodUsage): StorageExcess | undefined {
  const limit = podResources(pod).limits?.[resource];
  if (limit === undefined || usedBy(usage, resource) <= bytesOf(limit)) return undefined;
  const message = `Pod ephemeral local storage usage exceeds the total limit of containers ${limit}. `;
  return { signal: "ephemeralpodfs.limit", message };
}

function containerExcess({ spec }: Pod, { containers }: PodUsage): StorageExcess | undefined {
  for (const { name, disk } of containers) {
    const limit = spec?.containers?.find((one) => one.name === name)?.resources?.limits?.[resource];
    if (limit === undefined || disk === undefined || bytesOf(limit) === 0 || disk.bytes <= bytesOf(limit)) continue;
    const message = `Container ${name} exceeded its local ephemeral storage limit ${JSON.stringify(String(limit))}. `;
    return { signal: "ephemeralcontainerfs.limit", message };
  }
  return undefined;
}

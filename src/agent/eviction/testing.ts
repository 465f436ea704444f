import type { Pod, PodSpec } from "../../api/types/core-v1.ts";
import type { DiskUsage, PodUsage } from "./pod-usage.ts";

export const mebibyte = 2 ** 20;

/** Returns a pod with one container, and with what it requests. */
export function podOf(name: string, requests: Record<string, string> = {}, spec: Partial<PodSpec> = {}): Pod {
  return {
    kind: "Pod",
    apiVersion: "v1",
    metadata: { name, namespace: "n", uid: `uid-${name}` },
    spec: { containers: [{ name: "main", image: "i", resources: { requests } }], ...spec },
  };
}

export function usageOf(memoryBytes: number, disk?: DiskUsage, volumes: Record<string, DiskUsage> = {}): PodUsage {
  return { containers: [{ name: "main", memoryBytes, disk }], volumes: new Map(Object.entries(volumes)) };
}

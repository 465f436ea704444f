import type { GroupVersion } from "../../api/gvk.ts";
import type { APIService } from "../../api/types/apiregistration-v1.ts";
import type { GroupPriority } from "./group-priorities.ts";

/** Label of the APIServices that the server itself maintains. The server leaves others alone. */
const managedLabel = "kube-aggregator.kubernetes.io/automanaged";

/** `onstart`: corrected when a server starts (built-in kinds). `true`: always maintained (custom kinds). */
export type Upkeep = "onstart" | "true";

export function apiServiceNameOf({ group, version }: GroupVersion): string {
  return `${version}.${group}`;
}

/** Returns the group version that the name of an APIService stands for. */
export function groupVersionOfName(name: string): GroupVersion {
  const dot = name.indexOf(".");
  return { group: name.slice(dot + 1), version: name.slice(0, dot) };
}

/** Returns the APIService of a group version that this server serves. */
export function automaticApiService(
  { group, version }: GroupVersion,
  priority: GroupPriority,
  upkeep: Upkeep,
): APIService {
  return {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: apiServiceNameOf({ group, version }), labels: { [managedLabel]: upkeep } },
    spec: {
      ...(group === "" ? {} : { group }),
      version,
      groupPriorityMinimum: priority.group,
      versionPriority: priority.version,
    },
  };
}

/** Returns how the server maintains an APIService; undefined if it leaves it alone. */
export function upkeepOf({ metadata }: APIService): Upkeep | undefined {
  const value = metadata.labels?.[managedLabel];
  return value === "onstart" || value === "true" ? value : undefined;
}

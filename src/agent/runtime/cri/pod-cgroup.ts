import { readdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import type { Pod } from "../../../api/types/core-v1.ts";
import { qosClassOf } from "../../../kinds/core/pod-qos.ts";

export type CgroupDriver = "systemd" | "cgroupfs";

/** The mount of the control groups; under version 1 it has a folder per controller. */
const mount = "/sys/fs/cgroup";

/** Returns the control group in which the containers of a pod lie, named as upstream's node agent names it. */
export function podCgroup(pod: Pod, driver: CgroupDriver): string {
  const qos = qosClassOf(pod);
  const parts = ["kubepods", ...(qos === "Guaranteed" ? [] : [qos.toLowerCase()]), `pod${pod.metadata.uid}`];
  if (driver === "cgroupfs") return `/${parts.join("/")}`;
  // The name of a slice contains the names of those around it, joined by "-".
  const names = parts.map((part) => part.replaceAll("-", "_"));
  return `/${names.map((_, at) => `${names.slice(0, at + 1).join("-")}.slice`).join("/")}`;
}

/** Removes the control groups of pods that have no processes left. systemd does so itself for slices. */
export function removePodCgroup(podUid: string): void {
  const group = `pod${podUid}`;
  for (const root of [mount, ...foldersIn(mount).map((name) => join(mount, name))]) {
    for (const qos of ["", "burstable", "besteffort"]) {
      try {
        rmdirSync(join(root, "kubepods", qos, group));
      } catch {
        // Absent, or still in use by a container that is ending.
      }
    }
  }
}

function foldersIn(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch {
    return [];
  }
}

import { join } from "node:path";
import type { KnownPod } from "../pods/pod-directory.ts";
import type { PodFiles } from "../pods/pod-files.ts";
import { podLogDirectory } from "../pods/start-container.ts";
import type { ContainerStats } from "../runtime/runtime.ts";
import { addUsage, diskUsage, noDiskUsage } from "./disk-usage.ts";
import type { ContainerUsage, DiskUsage, PodUsage } from "./pod-usage.ts";

export interface MeasureOptions {
  readonly files: Pick<PodFiles, "localVolumesOf">;
  /** Directory of the logs of all pods. */
  readonly logDirectory: string;
  /** By the id of the container. */
  readonly stats: ReadonlyMap<string, ContainerStats>;
  /** Whether disks are measured too, which takes long. */
  readonly measuresDisk: boolean;
}

/** Measures a pod. Returns undefined for a pod of which no container runs. */
export async function measurePod(
  { pod, runtime, containers }: KnownPod,
  { files, logDirectory, stats, measuresDisk }: MeasureOptions,
): Promise<PodUsage | undefined> {
  const running = containers.filter(({ state }) => state.kind === "running");
  if (running.length === 0) return undefined;
  const used: ContainerUsage[] = [];
  for (const { id, name } of running) {
    const own = stats.get(id);
    const folder = runtime.writableFolder?.(id);
    let disk: DiskUsage | undefined;
    if (measuresDisk) {
      const log = await diskUsage(join(podLogDirectory(logDirectory, pod), name));
      const files = folder === undefined ? (own?.writable ?? noDiskUsage) : await diskUsage(folder);
      disk = addUsage(log, files);
    }
    used.push({ name, memoryBytes: own?.workingSetBytes ?? 0, disk });
  }
  const volumes = new Map<string, DiskUsage>();
  if (measuresDisk) {
    for (const [name, path] of files.localVolumesOf?.(pod) ?? []) volumes.set(name, await diskUsage(path));
  }
  return { containers: used, volumes };
}

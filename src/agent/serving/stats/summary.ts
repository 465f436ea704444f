import { formatTime } from "../../../api/time.ts";
import { type MeasuredContainer, type MeasuredPod, sumOf } from "./measured-pods.ts";
import type { FileSystemStats, NodeStats } from "./node-stats.ts";

export interface SummaryInput {
  readonly nodeName: string;
  readonly node: NodeStats;
  readonly pods: readonly MeasuredPod[];
  /** Current use of CPU by container; that of the node under "". */
  readonly rates: ReadonlyMap<string, number>;
  /** Leaves out file systems and processes. */
  readonly onlyCpuAndMemory: boolean;
}

/** Returns the document of `/stats/summary`. Values that are not known are left out. */
export function summary({ nodeName, node, pods, rates, onlyCpuAndMemory }: SummaryInput): object {
  const time = formatTime(node.timeMs);
  const { memory, cpuNanoseconds, startedAtMs, fs, imageFs = fs, processes } = node;
  return {
    node: {
      nodeName,
      ...(startedAtMs === undefined ? {} : { startTime: formatTime(startedAtMs) }),
      ...(cpuNanoseconds === undefined ? {} : { cpu: cpu(time, cpuNanoseconds, rates.get("")) }),
      ...(memory === undefined
        ? {}
        : {
            memory: {
              time,
              availableBytes: memory.availableBytes,
              usageBytes: memory.usageBytes,
              workingSetBytes: memory.workingSetBytes,
            },
          }),
      ...(onlyCpuAndMemory || fs === undefined ? {} : { fs: fileSystem(time, fs) }),
      ...(onlyCpuAndMemory || imageFs === undefined ? {} : { runtime: { imageFs: fileSystem(time, imageFs) } }),
      ...(onlyCpuAndMemory || processes === undefined
        ? {}
        : { rlimit: { time, maxpid: processes.max, curproc: processes.running } }),
    },
    pods: pods.map((pod) => podStats(pod, rates)),
  };
}

function podStats(measured: MeasuredPod, rates: ReadonlyMap<string, number>): object {
  const { metadata, status } = measured.pod;
  const timeMs = measured.containers.reduce((latest, one) => Math.max(latest, one.timeMs), 0);
  const rate = (one: MeasuredContainer) => rates.get(one.containerId) ?? 0;
  const time = formatTime(timeMs);
  return {
    podRef: { name: metadata.name ?? "", namespace: metadata.namespace ?? "", uid: metadata.uid ?? "" },
    startTime: status?.startTime ?? null,
    containers: measured.containers.map((one) => ({
      name: one.container.name,
      startTime: formatTime(one.startedAtMs),
      cpu: cpu(formatTime(one.timeMs), one.cpuNanoseconds, rates.get(one.containerId)),
      memory: { time: formatTime(one.timeMs), usageBytes: one.memoryBytes, workingSetBytes: one.workingSetBytes },
    })),
    ...(measured.containers.length === 0
      ? {}
      : {
          cpu: cpu(
            time,
            sumOf(measured, (one) => one.cpuNanoseconds),
            sumOf(measured, rate),
          ),
          memory: {
            time,
            usageBytes: sumOf(measured, (one) => one.memoryBytes),
            workingSetBytes: sumOf(measured, (one) => one.workingSetBytes),
          },
        }),
  };
}

function cpu(time: string, usageCoreNanoSeconds: number, usageNanoCores: number | undefined): object {
  return { time, ...(usageNanoCores === undefined ? {} : { usageNanoCores }), usageCoreNanoSeconds };
}

function fileSystem(time: string, stats: FileSystemStats): object {
  const { availableBytes, capacityBytes, usedBytes, inodes, inodesFree } = stats;
  return { time, availableBytes, capacityBytes, usedBytes, inodesFree, inodes, inodesUsed: inodes - inodesFree };
}

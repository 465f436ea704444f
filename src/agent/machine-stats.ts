import { cpus, uptime } from "node:os";
import type { Machine } from "./node/machine.ts";
import type { FileSystemStats, NodeStats } from "./serving/stats/node-stats.ts";

const nanosecondsPerMs = 1_000_000;

/** Returns the state of this machine for `/stats/summary` and metrics. */
export async function machineStats(machine: Machine, nowMs: number): Promise<NodeStats> {
  const usage = await machine.usage();
  const { "memory.available": memory, "nodefs.available": space, "nodefs.inodesFree": inodes } = usage;
  const processes = usage["pid.available"];
  const times = cpus().map((cpu) => cpu.times);
  const busyMs = times.reduce((sum, { user, nice, sys, irq }) => sum + user + nice + sys + irq, 0);
  const fs: FileSystemStats | undefined =
    space === undefined
      ? undefined
      : {
          capacityBytes: space.capacity,
          availableBytes: space.available,
          usedBytes: space.capacity - space.available,
          inodes: inodes?.capacity ?? 0,
          inodesFree: inodes?.available ?? 0,
        };
  return {
    timeMs: nowMs,
    startedAtMs: nowMs - uptime() * 1_000,
    cpuNanoseconds: busyMs * nanosecondsPerMs,
    cpuCount: times.length,
    fs,
    imageFs: fs,
    memory:
      memory === undefined
        ? undefined
        : {
            capacityBytes: memory.capacity,
            availableBytes: memory.available,
            usageBytes: memory.capacity - memory.available,
            workingSetBytes: memory.capacity - memory.available,
          },
    processes:
      processes === undefined
        ? undefined
        : { max: processes.capacity, running: processes.capacity - processes.available },
  };
}

import type { Pod } from "../../../api/types/core-v1.ts";
import type { PodDirectory } from "../../pods/pod-directory.ts";
import type { ContainerStats, Runtime, RuntimeContainer } from "../../runtime/runtime.ts";
import { podsOf } from "../pod-lists.ts";

/** A pod whose running containers are measured. */
export interface MeasuredPod {
  readonly pod: Pod;
  readonly containers: readonly MeasuredContainer[];
}

export interface MeasuredContainer extends ContainerStats {
  readonly container: RuntimeContainer;
  readonly startedAtMs: number;
}

/** Asks each runtime once for the statistics of all its containers. @throws RuntimeError */
export async function measurePods(directory: PodDirectory, nodeName: string): Promise<MeasuredPod[]> {
  const known = podsOf(directory, nodeName);
  const runtimes = [...new Set(known.map(({ runtime }) => runtime))];
  const stats = new Map(await Promise.all(runtimes.map(async (one) => [one, await statsById(one)] as const)));
  return known.map(({ pod, runtime, containers }) => ({
    pod,
    containers: containers.flatMap((container) => {
      const measured = stats.get(runtime)?.get(container.id);
      if (measured === undefined || container.state.kind !== "running") return [];
      return [{ ...measured, container, startedAtMs: container.state.startedAtMs }];
    }),
  }));
}

async function statsById(runtime: Runtime): Promise<ReadonlyMap<string, ContainerStats>> {
  return new Map((await runtime.stats()).map((stats) => [stats.containerId, stats]));
}

/** Returns the sum of a value over the containers of a pod. */
export function sumOf({ containers }: MeasuredPod, valueOf: (container: MeasuredContainer) => number): number {
  return containers.reduce((sum, container) => sum + valueOf(container), 0);
}

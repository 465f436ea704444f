import type { Pod } from "../../api/types/core-v1.ts";
import { atMost } from "../../process/at-most.ts";
import type { Clock } from "../../process/clock.ts";
import type { Runtime, RuntimeContainer, RuntimeId } from "../runtime/runtime.ts";
import type { RunHook } from "./lifecycle-hook.ts";
import { containersOf, type PodContainer } from "./pod-containers.ts";
import type { RecordPodEvent } from "./pod-recorder.ts";
import type { RuntimePod } from "./runtime-view.ts";

/** Shortest time for which a container may react to the stop signal. */
const graceSecondsMin = 2;

export interface StopParts {
  readonly runtime: Pick<Runtime, "stopContainer" | "stopSandbox">;
  readonly clock: Clock;
  readonly record: RecordPodEvent;
  readonly runHook: RunHook;
}

export interface ContainerStop {
  readonly pod: Pod;
  readonly container: PodContainer;
  readonly id: RuntimeId;
  readonly message: string;
  readonly graceSeconds: number;
  /** Resolves when the containers that have to end first have ended. */
  readonly turn?: Promise<unknown> | undefined;
}

/** Runs the hook of a container and stops it within its grace period. Resolves when it has exited. */
export async function stopContainer(parts: StopParts, stop: ContainerStop): Promise<void> {
  const { runtime, clock, record } = parts;
  const { pod, container, id, message, graceSeconds, turn } = stop;
  record(pod, { type: "Normal", reason: "Killing", message }, container);
  const endMs = clock.steadyMs() + graceSeconds * 1_000;
  const leftSeconds = () => Math.ceil((endMs - clock.steadyMs()) / 1_000);
  const hook = container.spec.lifecycle?.preStop;
  if (hook !== undefined && graceSeconds > 0) {
    await atMost(clock, graceSeconds * 1_000, runPreStop(parts, stop, hook));
  }
  if (turn !== undefined && leftSeconds() > 0) await atMost(clock, leftSeconds() * 1_000, turn);
  await runtime.stopContainer(id, Math.max(graceSecondsMin, leftSeconds()));
}

async function runPreStop(
  { record, runHook }: StopParts,
  { pod, container, id }: ContainerStop,
  hook: Parameters<RunHook>[3],
): Promise<void> {
  const problem = await runHook(pod, container, id, hook);
  // The message may hold secrets, which Events must not show.
  if (problem === undefined) return;
  record(pod, { type: "Warning", reason: "FailedPreStopHook", message: "PreStopHook failed" }, container);
}

/** Stops the containers of a pod within a grace period, and then its sandboxes. */
export async function stopPod(
  parts: StopParts,
  pod: Pod,
  { containers, sandboxes }: RuntimePod,
  graceSeconds: number,
): Promise<void> {
  await stopContainers(parts, pod, containers.filter(mayRun), graceSeconds);
  for (const { id, isReady } of sandboxes) if (isReady) await parts.runtime.stopSandbox(id);
}

/** Shortens the grace period of containers that are being stopped. */
export async function hurryPod(
  runtime: StopParts["runtime"],
  { containers }: RuntimePod,
  graceSeconds: number,
): Promise<void> {
  const seconds = Math.max(graceSecondsMin, graceSeconds);
  await Promise.all(containers.filter(mayRun).map(({ id }) => runtime.stopContainer(id, seconds)));
}

/** Removes what the runtime keeps of a pod that has been stopped. */
export async function removePod(
  runtime: Pick<Runtime, "removeContainer" | "removeSandbox">,
  { containers, sandboxes }: RuntimePod,
): Promise<void> {
  for (const { id } of containers) await runtime.removeContainer(id);
  for (const { id } of sandboxes) await runtime.removeSandbox(id);
}

function mayRun({ state }: RuntimeContainer): boolean {
  return state.kind === "running" || state.kind === "unknown";
}

/** Stops the running containers of a pod together. Sidecars end after the others, the last one first. */
async function stopContainers(
  parts: StopParts,
  pod: Pod,
  runs: readonly RuntimeContainer[],
  graceSeconds: number,
): Promise<void> {
  const sidecars: (() => Promise<void>)[] = [];
  const others: Promise<void>[] = [];
  const stops: Promise<void>[] = [];
  let turn: Promise<unknown> = Promise.resolve();
  for (const container of containersOf(pod)) {
    for (const { id } of runs.filter((run) => run.name === container.spec.name)) {
      const message = `Stopping container ${container.spec.name}`;
      const stop = { pod, container, id, message, graceSeconds };
      if (container.role === "sidecar") sidecars.push(() => stopContainer(parts, { ...stop, turn }));
      else others.push(stopContainer(parts, stop));
    }
  }
  turn = Promise.allSettled(others);
  for (const start of sidecars.reverse()) {
    const stopped = start();
    stops.push(stopped);
    turn = Promise.allSettled([turn, stopped]);
  }
  await Promise.all([...others, ...stops]);
}

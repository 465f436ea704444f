import type { Container, ContainerStatus, Pod, PodStatus } from "../../api/types/core-v1.ts";
import { isSidecar } from "./pod-containers.ts";
import { restartsAfter } from "./restart-rules.ts";

type Phase = NonNullable<PodStatus["phase"]>;

export interface PhaseFacts {
  readonly pod: Pod;
  readonly initStatuses: readonly ContainerStatus[];
  readonly statuses: readonly ContainerStatus[];
  /** Whether a regular container has been started in the current sandbox. */
  readonly isInitialized: boolean;
  /** Names of containers that start again whatever their exit code was. */
  readonly restarting: ReadonlySet<string>;
  /** Whether nothing of the pod starts any more, whatever its restart policy says. */
  readonly isFinished: boolean;
}

/** Returns the phase that follows from the statuses of the containers. */
export function podPhase(facts: PhaseFacts): Phase {
  const { pod, initStatuses, isInitialized } = facts;
  const init = pod.spec?.initContainers ?? [];
  const once = init.filter((container) => !isSidecar(container)).map((one) => progressOf(one, initStatuses, facts));
  const sidecars = init.filter(isSidecar).map((one) => progressOf(one, initStatuses, facts));
  const regular = (pod.spec?.containers ?? []).map((one) => progressOf(one, facts.statuses, facts));
  if (once.some(({ kind, exitCode, restarts }) => kind === "stopped" && exitCode !== 0 && !restarts)) return "Failed";

  const isInitializing = once.some(({ kind }) => kind !== "stopped");
  const startsSidecar = sidecars.some(({ kind, started }) => kind !== "stopped" && !(kind === "running" && started));
  const kept = [...sidecars.filter(({ kind }) => kind !== "stopped"), ...regular];
  const has = (wanted: Progress["kind"]) => kept.some(({ kind }) => kind === wanted);
  if (isInitializing || (startsSidecar && !isInitialized) || has("waiting")) return "Pending";
  if (has("running") && !has("unknown")) return "Running";
  if (has("running") || has("unknown") || regular.length === 0) return "Pending";
  const hasFailed = regular.some(({ exitCode }) => exitCode !== 0);
  if (!facts.isFinished && regular.some(({ restarts }) => restarts)) return "Running";
  return hasFailed ? "Failed" : "Succeeded";
}

interface Progress {
  readonly kind: "waiting" | "running" | "stopped" | "unknown";
  readonly exitCode: number;
  readonly started: boolean;
  readonly restarts: boolean;
}

function progressOf(
  container: Container,
  statuses: readonly ContainerStatus[],
  { pod, restarting }: PhaseFacts,
): Progress {
  const status = statuses.find(({ name }) => name === container.name);
  const plain = { exitCode: 0, started: status?.started === true, restarts: false };
  const { running, waiting, terminated } = status?.state ?? {};
  if (running !== undefined) return { ...plain, kind: "running" };
  const ended = terminated ?? (waiting === undefined ? undefined : status?.lastState?.terminated);
  if (ended !== undefined) {
    const restarts = restarting.has(container.name) || restartsAfter(container, pod, ended.exitCode);
    return { ...plain, kind: "stopped", exitCode: ended.exitCode, restarts };
  }
  return { ...plain, kind: waiting === undefined ? "unknown" : "waiting" };
}

import { formatTime } from "../../api/time.ts";
import type { ContainerStatus, PodStatus } from "../../api/types/core-v1.ts";
import { qosClassOf } from "../../kinds/core/pod-qos.ts";
import { containerStatuses, type StatusOptions } from "./container-statuses.ts";
import { type Condition, podConditions } from "./pod-conditions.ts";
import { podPhase } from "./pod-phase.ts";
import { podResources } from "./pod-resources.ts";
import { isFinalPhase, type PodView, readySandbox } from "./pod-view.ts";

/** The end that the agent itself gives a pod, as after its deadline. */
export interface Verdict {
  readonly reason: string;
  readonly message: string;
  /** Conditions that the pod has when it has ended. */
  readonly conditions?: readonly Condition[];
}

/** The end of a pod of which the node has to be relieved. */
export interface Eviction {
  readonly message: string;
  readonly graceSeconds: number;
  /** Whether the pod is not to blame, which its condition DisruptionTarget tells controllers. */
  readonly isDisruption: boolean;
}

export interface PodStatusOptions extends StatusOptions {
  /** Addresses of the node, the primary one first. */
  readonly hostIps: readonly string[];
  readonly verdict: Verdict | undefined;
  /** Conditions of a resize. */
  readonly conditions: readonly Condition[];
  readonly nowMs: number;
}

/** Returns the status of a pod as its API object is to show it. */
export function podStatus(view: PodView, options: PodStatusOptions): PodStatus {
  const { pod, old } = view;
  const { hostIps, nowMs } = options;
  const spec = pod.spec ?? { containers: [] };
  const initStatuses = containerStatuses(view, spec.initContainers ?? [], "initContainerStatuses", options);
  const statuses = containerStatuses(view, spec.containers ?? [], "containerStatuses", options);
  const ephemeral = (spec.ephemeralContainers ?? []) as Parameters<typeof containerStatuses>[1];
  const ephemeralStatuses = containerStatuses(view, ephemeral, "ephemeralContainerStatuses", options);

  const { phase, shown, reason, message } = phaseOf(view, initStatuses, statuses, options);
  const sandbox = readySandbox(view);
  const ips = spec.hostNetwork === true ? hostIps : (sandbox?.ips ?? addressesOf(old));
  const conditions = podConditions({
    pod,
    old,
    phase,
    initStatuses,
    statuses,
    hasSandbox: sandbox !== undefined,
    extra: [
      ...options.conditions,
      ...(shown === phase && isFinalPhase(phase) ? (options.verdict?.conditions ?? []) : []),
    ],
    nowMs,
  });
  const generation = pod.metadata.generation;
  return {
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    phase: shown,
    conditions,
    ...(message === undefined ? {} : { message }),
    ...(reason === undefined ? {} : { reason }),
    ...(hostIps[0] === undefined ? {} : { hostIP: hostIps[0], hostIPs: hostIps.map((ip) => ({ ip })) }),
    ...(ips[0] === undefined ? {} : { podIP: ips[0], podIPs: ips.map((ip) => ({ ip })) }),
    startTime: old.startTime ?? formatTime(nowMs),
    ...(initStatuses.length === 0 ? {} : { initContainerStatuses: initStatuses }),
    ...(statuses.length === 0 ? {} : { containerStatuses: statuses }),
    qosClass: old.qosClass ?? qosClassOf(pod),
    ...(ephemeralStatuses.length === 0 ? {} : { ephemeralContainerStatuses: ephemeralStatuses }),
    ...resourcesOf(view),
  };
}

/** The resources of the pod as a whole stay as they were while the node has no room for others. */
function resourcesOf({ pod, old, holdsResize }: PodView): Pick<PodStatus, "resources" | "allocatedResources"> {
  const kept = holdsResize ? old.resources : undefined;
  const resources = kept ?? podResources(pod);
  return { resources, ...(resources.requests === undefined ? {} : { allocatedResources: resources.requests }) };
}

interface PhaseAndReason {
  readonly phase: NonNullable<PodStatus["phase"]>;
  /** The old phase while a container of an ended pod still runs. */
  readonly shown: NonNullable<PodStatus["phase"]>;
  readonly reason: string | undefined;
  readonly message: string | undefined;
}

function phaseOf(
  view: PodView,
  initStatuses: readonly ContainerStatus[],
  statuses: readonly ContainerStatus[],
  { isFinished, verdict }: PodStatusOptions,
): PhaseAndReason {
  const { pod, old } = view;
  const sandbox = view.sandboxes[0];
  const isInitialized = (pod.spec?.containers ?? []).some(({ name }) =>
    view.containers.some((run) => run.name === name && run.sandboxId === sandbox?.id),
  );
  const restarting = new Set(view.containers.filter(({ id }) => view.restarting.has(id)).map(({ name }) => name));
  let phase = podPhase({ pod, initStatuses, statuses, isInitialized, restarting, isFinished });
  // A final phase never changes again.
  if (isFinalPhase(old.phase)) phase = old.phase ?? phase;
  else if (verdict !== undefined) phase = "Failed";
  else if (isFinished && !isFinalPhase(phase)) phase = "Failed";
  const runs = view.containers.some(({ state }) => state.kind === "running");
  const shown = isFinalPhase(phase) && runs && !isFinalPhase(old.phase) ? (old.phase ?? "Pending") : phase;
  const { reason, message } = shown !== phase || verdict === undefined ? kept(old, shown) : verdict;
  return { phase, shown, reason, message };
}

function kept(old: PodStatus, phase: PodStatus["phase"]) {
  return old.phase === phase ? old : { reason: undefined, message: undefined };
}

function addressesOf({ podIP, podIPs = [] }: PodStatus): readonly string[] {
  return podIPs.length > 0 ? podIPs.map(({ ip }) => ip) : podIP === undefined ? [] : [podIP];
}

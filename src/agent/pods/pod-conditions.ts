import { formatTime } from "../../api/time.ts";
import type { Container, ContainerStatus, Pod, PodCondition, PodStatus } from "../../api/types/core-v1.ts";
import { isSidecar } from "./pod-containers.ts";

/** Types of the conditions that the agent alone writes. */
export const ownConditionTypes: ReadonlySet<string> = new Set([
  "PodReadyToStartContainers",
  "Initialized",
  "Ready",
  "ContainersReady",
  "PodScheduled",
  "PodResizePending",
  "PodResizeInProgress",
]);

export interface ConditionFacts {
  readonly pod: Pod;
  /** The agent's latest status. Its conditions keep their times while they keep their status. */
  readonly old: PodStatus;
  readonly phase: PodStatus["phase"];
  readonly initStatuses: readonly ContainerStatus[];
  readonly statuses: readonly ContainerStatus[];
  readonly hasSandbox: boolean;
  /** Further conditions, such as those of a resize. */
  readonly extra: readonly Condition[];
  readonly nowMs: number;
}

export type Condition = Pick<PodCondition, "type" | "status" | "reason" | "message">;

/** Returns the conditions of a pod: those of others as they are stored, then the agent's. */
export function podConditions(facts: ConditionFacts): PodCondition[] {
  const { pod, old, extra, nowMs } = facts;
  const others = (pod.status?.conditions ?? []).filter(({ type }) => !ownConditionTypes.has(type));
  const containersReady = containersReadyCondition(facts);
  const own: Condition[] = [
    ...extra,
    { type: "PodReadyToStartContainers", status: facts.hasSandbox ? "True" : "False" },
    initializedCondition(facts),
    readyCondition(facts, containersReady, others),
    containersReady,
    { type: "PodScheduled", status: "True" },
  ];
  const added = own.filter(({ type }) => !others.some((other) => other.type === type));
  const { generation } = pod.metadata;
  const stamped = added.map((condition): PodCondition => {
    const known = old.conditions?.find(({ type }) => type === condition.type);
    const since = known?.status === condition.status ? known.lastTransitionTime : undefined;
    const { type, ...rest } = condition;
    return {
      type,
      ...(generation === undefined ? {} : { observedGeneration: generation }),
      ...rest,
      lastProbeTime: null,
      lastTransitionTime: since ?? formatTime(nowMs),
    };
  });
  const replaced = others.filter(({ type }) => !added.some((one) => one.type === type));
  return [...replaced, ...stamped];
}

function initializedCondition({ pod, phase, initStatuses, statuses }: ConditionFacts): Condition {
  const type = "Initialized";
  const init = pod.spec?.initContainers ?? [];
  const statusOf = ({ name }: Container) => initStatuses.find((one) => one.name === name);
  const unknown = init.filter((one) => statusOf(one) === undefined);
  if (phase === "Succeeded" && unknown.length === 0) return { type, status: "True", reason: "PodCompleted" };
  const hasStarted = statuses.some(({ state }) => state?.running !== undefined || state?.terminated !== undefined);
  const incomplete = init.filter((one) => {
    const status = statusOf(one);
    return status !== undefined && (isSidecar(one) ? status.started !== true : !status.ready);
  });
  const message = namesMessage([
    ["containers with unknown status", unknown],
    ["containers with incomplete status", incomplete],
  ]);
  if (hasStarted || message === "") return { type, status: "True" };
  return { type, status: "False", reason: "ContainersNotInitialized", message };
}

function containersReadyCondition({ pod, phase, initStatuses, statuses }: ConditionFacts): Condition {
  const type = "ContainersReady";
  const all = [...initStatuses, ...statuses];
  const sidecars = (pod.spec?.initContainers ?? []).filter(isSidecar);
  const containers = [...sidecars, ...(pod.spec?.containers ?? [])];
  const statusOf = ({ name }: Container) => all.find((one) => one.name === name);
  const unknown = containers.filter((one) => statusOf(one) === undefined);
  if (phase === "Succeeded" && unknown.length === 0) return { type, status: "False", reason: "PodCompleted" };
  if (phase === "Failed") return { type, status: "False", reason: "PodFailed" };
  const message = namesMessage([
    ["containers with unknown status", unknown],
    ["containers with unready status", containers.filter((one) => statusOf(one)?.ready === false)],
  ]);
  return message === "" ? { type, status: "True" } : { type, status: "False", reason: "ContainersNotReady", message };
}

function readyCondition(
  { pod }: ConditionFacts,
  containersReady: Condition,
  conditions: readonly PodCondition[],
): Condition {
  const type = "Ready";
  if (containersReady.status !== "True") return { ...containersReady, type };
  const problems = (pod.spec?.readinessGates ?? []).flatMap(({ conditionType }) => {
    const gate = conditions.find((one) => one.type === conditionType);
    const name = JSON.stringify(conditionType);
    if (gate === undefined) return [`corresponding condition of pod readiness gate ${name} does not exist.`];
    return gate.status === "True" ? [] : [`the status of pod readiness gate ${name} is not "True", but ${gate.status}`];
  });
  if (problems.length === 0) return { type, status: "True" };
  return { type, status: "False", reason: "ReadinessGatesNotReady", message: problems.join(", ") };
}

/** Lists containers as Go prints them: `containers with unready status: [a b]`. */
function namesMessage(groups: readonly (readonly [title: string, containers: readonly Container[]])[]): string {
  return groups
    .filter(([, containers]) => containers.length > 0)
    .map(([title, containers]) => `${title}: [${containers.map(({ name }) => name).join(" ")}]`)
    .join(", ");
}

import type { JsonObject } from "../../api/json.ts";
import { flagReaderOf, readerOf, textAt, valueAt } from "../../api/scheme/selectable-fields.ts";
import type { Container, Pod, PodCondition, PodSpec, PodStatus } from "../../api/types/core-v1.ts";
import { warnAboutIp } from "../../api/validation/strict-ip.ts";
import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import { action, builtInKind, connection, stored, strategyOf, subresource } from "../../registry/kind.ts";
import type { DeleteOptions, Strategy } from "../../registry/strategy.ts";
import { podEviction } from "../policy/eviction.ts";
import { podDisruptionBudget } from "../policy/pod-disruption-budget.ts";
import { adoptAppArmorAnnotations } from "./app-armor-annotations.ts";
import { mergeLabelKeys } from "./match-label-keys.ts";
import { alignAddresses } from "./pod-addresses.ts";
import { podBinding } from "./pod-binding.ts";
import { podCells, podRowConditions } from "./pod-cells.ts";
import { defaultClaimTemplate, defaultContainer, defaultPod, defaultPodSpec, defaultVolume } from "./pod-defaults.ts";
import { podDescriptions } from "./pod-descriptions.ts";
import { qosClassOf } from "./pod-qos.ts";
import { podWarnings } from "./pod-warnings.ts";
import { roundRequirements } from "./resource-list.ts";
import { validatePod } from "./validation/pod.ts";
import { validateEphemeralContainersUpdate } from "./validation/pod-ephemeral-update.ts";
import { validatePodResize } from "./validation/pod-resize.ts";
import { validatePodStatusUpdate } from "./validation/pod-status.ts";
import { validatePodUpdate } from "./validation/pod-update.ts";
import { hostnameWarnings } from "./workload-warnings.ts";

export const podStrategy: Strategy<Pod> = {
  ...defaultStrategy,
  coversSchema: true,
  returnsDeletedObject: true,
  generationFields: ["spec"],
  resetFields: ["status"],
  prepareForCreate(pod, context) {
    pod.status = { phase: "Pending", ...gatedCondition(pod), qosClass: qosClassOf(pod) };
    mergeLabelKeys(pod);
    adoptAppArmorAnnotations(pod, (text) => context.warn(text));
  },
  validate: (pod, old) => validatePod(pod, old),
  // Updates come from controllers, which do not read warnings.
  warnings: (pod, old) => (old === undefined ? newPodWarnings(pod) : []),
  validateUpdate: validatePodUpdate,
  marksRemoved: true,
  gracePeriodSeconds,
};

const writeStatus = statusStrategy(podStrategy);

export const podStatusStrategy: Strategy<Pod> = {
  ...writeStatus,
  prepareForUpdate(object, old, nowMs) {
    writeStatus.prepareForUpdate(object, old, nowMs);
    keepObservedGenerations(object.status ?? {}, old.status ?? {});
    // Older writers do not send the class of service. That does not change it.
    const qosClass = object.status?.qosClass || old.status?.qosClass;
    if (qosClass) object.status = { ...object.status, qosClass };
  },
  validateUpdate: validatePodStatusUpdate,
  warnings: ({ status = {} }) => [
    ...(status.podIPs ?? []).flatMap(({ ip }, at) => warnAboutIp(ip, `status.podIPs[${at}].ip`)),
    ...(status.hostIPs ?? []).flatMap(({ ip }, at) => warnAboutIp(ip, `status.hostIPs[${at}].ip`)),
  ],
};

/** `pods/ephemeralcontainers`: adds to `spec.ephemeralContainers` and changes nothing else. */
export const podEphemeralContainersStrategy: Strategy<Pod> = partOfPod(({ ephemeralContainers }, spec) => {
  if (ephemeralContainers === undefined) delete spec.ephemeralContainers;
  else spec.ephemeralContainers = ephemeralContainers;
}, validateEphemeralContainersUpdate);

/** `pods/resize`: changes what containers request and are limited to. */
export const podResizeStrategy: Strategy<Pod> = partOfPod(
  (given, spec) => {
    const { containers, initContainers } = given;
    const isWhole =
      containers?.length === spec.containers?.length && initContainers?.length === spec.initContainers?.length;
    const resized = isWhole ? resizedContainers : (list: readonly Container[]) => [...list];
    spec.containers = containers === null ? null : resized(containers, spec.containers ?? []);
    if (initContainers === undefined) delete spec.initContainers;
    else spec.initContainers = resized(initContainers, spec.initContainers ?? []);
  },
  (pod, old) => validatePodResize(pod, old, { qosClassOf }),
);

export const pod = builtInKind("pods", {
  endpoint: stored(podStrategy),
  table: { cells: podCells, rowConditions: podRowConditions },
  labels: {
    readers: {
      // An older name of the same field.
      "spec.host": readerOf("spec.nodeName"),
      "spec.hostNetwork": flagReaderOf("spec.hostNetwork"),
      "status.podIP": firstPodIp,
      // Accepted as a label, but no value is ever published for it.
      "status.podIPs": () => "",
    },
  },
  defaults: {
    "core/v1.Container": defaultContainer,
    "core/v1.EphemeralContainer": defaultContainer,
    "core/v1.PersistentVolumeClaimTemplate": defaultClaimTemplate,
    "core/v1.Pod": defaultPod,
    "core/v1.PodSpec": defaultPodSpec,
    "core/v1.PodStatus": alignAddresses,
    "core/v1.ResourceRequirements": roundRequirements,
    "core/v1.Volume": defaultVolume,
  },
  subresources: {
    attach: connection("podAttach"),
    binding: action(({ registry, clock }) => podBinding({ pods: registry({ group: "", resource: "pods" }), clock })),
    ephemeralcontainers: subresource(podEphemeralContainersStrategy),
    eviction: action(({ registry, clock }) =>
      podEviction({
        pods: registry({ group: "", resource: "pods" }),
        podStatus: podStatusStrategy,
        budgets: registry(podDisruptionBudget),
        budgetStatus: strategyOf(podDisruptionBudget, "status"),
        clock,
      }),
    ),
    exec: connection("podExec"),
    log: connection("podLog"),
    portforward: connection("podPortForward"),
    proxy: connection("podProxy"),
    resize: subresource(podResizeStrategy),
    status: subresource(podStatusStrategy),
  },
  descriptions: podDescriptions,
});

function newPodWarnings(pod: Pod): string[] {
  return [...hostnameWarnings(pod.metadata.name ?? "", "this is used in the Pod's hostname"), ...podWarnings(pod, "")];
}

/** A pod with gates has a condition from the start that says why it is not scheduled. */
function gatedCondition({ metadata, spec }: Pod): Pick<PodStatus, "conditions"> {
  if ((spec?.schedulingGates ?? []).length === 0) return {};
  const condition: PodCondition = {
    type: "PodScheduled",
    status: "False",
    lastProbeTime: null,
    lastTransitionTime: metadata.creationTimestamp ?? null,
    reason: "SchedulingGated",
    message: "Scheduling is blocked due to non-empty scheduling gates",
  };
  return { conditions: [condition] };
}

/** A writer that does not know observed generations does not remove them. */
function keepObservedGenerations(status: PodStatus, old: PodStatus): void {
  const { observedGeneration = 0 } = old;
  if (!status.observedGeneration && observedGeneration) status.observedGeneration = observedGeneration;
  const before = Map.groupBy(old.conditions ?? [], ({ type }) => type);
  for (const condition of status.conditions ?? []) {
    const stored = before.get(condition.type)?.shift()?.observedGeneration ?? 0;
    if (!condition.observedGeneration && stored) condition.observedGeneration = stored;
  }
}

/** Returns the rules of a write that takes some of the spec from its body, and all else from the stored pod. */
function partOfPod(
  take: (given: PodSpec, spec: PodSpec) => void,
  validateUpdate: Strategy<Pod>["validateUpdate"],
): Strategy<Pod> {
  return {
    ...podStrategy,
    prepareForUpdate(object, old) {
      const { managedFields, resourceVersion } = object.metadata;
      const spec: PodSpec = { containers: null, ...old.spec };
      take(object.spec ?? { containers: null }, spec);
      object.spec = spec;
      if (old.status !== undefined) object.status = old.status;
      object.metadata = { ...old.metadata };
      if (managedFields !== undefined) object.metadata.managedFields = managedFields;
      if (resourceVersion !== undefined) object.metadata.resourceVersion = resourceVersion;
    },
    validateUpdate,
  };
}

/**
 * Takes the resources of each container, and nothing else. Containers with other names or in another order are taken as
 * given, so that validation sees them.
 */
function resizedContainers(given: readonly Container[], old: readonly Container[]): Container[] {
  if (given.some(({ name }, at) => name !== old[at]?.name)) return [...given];
  return given.map(({ resources, resizePolicy }, at) => {
    const { resources: _resources, resizePolicy: _resizePolicy, ...rest } = old[at] as Container;
    return {
      ...rest,
      ...(resources === undefined ? {} : { resources }),
      ...(resizePolicy === undefined ? {} : { resizePolicy }),
    };
  });
}

/** The node agent needs time to stop containers. A pod that no node runs needs none. */
function gracePeriodSeconds(pod: Pod, options: DeleteOptions): number {
  const asked = options.gracePeriodSeconds ?? Number(pod.spec?.terminationGracePeriodSeconds ?? 0);
  const phase = pod.status?.phase;
  if ((pod.spec?.nodeName ?? "") === "" || phase === "Succeeded" || phase === "Failed") return 0;
  return asked < 0 ? 1 : asked;
}

function firstPodIp(pod: JsonObject): string {
  const ips = valueAt(pod, ["status", "podIPs"]);
  const first = Array.isArray(ips) ? ips[0] : undefined;
  return first === undefined ? textAt(pod, ["status", "podIP"]) : textAt(first, ["ip"]);
}

import type { JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { DeleteOptions, Strategy } from "../../registry/strategy.ts";
import { fieldsOf } from "../../api/validation/key-values.ts";
import { validatePod } from "./validation/pod.ts";
import { validateEphemeralContainersUpdate } from "./validation/pod-ephemeral-update.ts";
import { objectsOf, textOf } from "../../api/validation/fields.ts";
import { validatePodResize } from "./validation/pod-resize.ts";
import { validatePodStatusUpdate } from "./validation/pod-status.ts";
import { validatePodUpdate } from "./validation/pod-update.ts";
import { podWarnings } from "./pod-warnings.ts";
import { hostnameWarnings } from "./workload-warnings.ts";
import { podEviction } from "../policy/eviction.ts";
import { podDisruptionBudget } from "../policy/pod-disruption-budget.ts";
import { withAlignedAddresses } from "./pod-addresses.ts";
import { podBinding } from "./pod-binding.ts";
import { qosClassOf } from "./pod-qos.ts";
import { action, builtInKind, connection, stored, strategyOf, subresource } from "../../registry/kind.ts";
import { podCells, podRowConditions } from "./pod-cells.ts";
import { flagReaderOf, readerOf, textAt, valueAt } from "../../api/scheme/selectable-fields.ts";
import { defaultContainer } from "./defaults/container.ts";
import { defaultPod, defaultPodSpec } from "./defaults/pod.ts";
import { roundRequirements } from "./defaults/resource-list.ts";
import { defaultClaimTemplate, defaultVolume } from "./defaults/volume.ts";

interface Pod extends KubeObject {
  spec?: { nodeName?: string; terminationGracePeriodSeconds?: number; containers?: never[] };
  status?: { phase?: string; qosClass?: string };
}

const gracePeriodSecondsDefault = 30;

export const podStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  returnsDeletedObject: true,
  generationFields: ["spec"],
  resetFields: ["status"],
  prepareForCreate(object: Pod) {
    object.status = { phase: "Pending", qosClass: qosClassOf(object) };
  },
  validate: (pod, old) => validatePod(pod, old),
  // Updates come from controllers, which read no warnings.
  warnings: (pod, old) => (old === undefined ? newPodWarnings(pod) : []),
  validateUpdate: validatePodUpdate,
  gracePeriodSeconds,
};

const writeStatus = statusStrategy(podStrategy);

export const podStatusStrategy: Strategy = {
  ...writeStatus,
  prepareForUpdate(object: Pod, old: Pod, nowMs) {
    writeStatus.prepareForUpdate(object, old, nowMs);
    // Writers from before there were classes of service send none: that does not change it.
    const qosClass = object.status?.qosClass || old.status?.qosClass;
    if (qosClass) object.status = { ...object.status, qosClass };
    if (object.status !== undefined) object.status = withAlignedAddresses(object.status as JsonObject);
  },
  validateUpdate: validatePodStatusUpdate,
};

/** `pods/ephemeralcontainers`: adds to `spec.ephemeralContainers` and changes nothing else. */
export const podEphemeralContainersStrategy: Strategy = partOfPod(({ ephemeralContainers }, spec) => {
  if (ephemeralContainers === undefined) delete spec["ephemeralContainers"];
  else spec["ephemeralContainers"] = ephemeralContainers;
}, validateEphemeralContainersUpdate);

/** `pods/resize`: changes what containers request and are limited to. */
export const podResizeStrategy: Strategy = partOfPod(
  (given, spec) => {
    for (const list of ["containers", "initContainers"]) {
      if (given[list] !== undefined || spec[list] !== undefined) {
        spec[list] = resizedContainers(objectsOf(given[list]), objectsOf(spec[list]));
      }
    }
  },
  (pod, old) => validatePodResize(pod, old, { qosClassOf }),
);

export const pod = builtInKind("pods", {
  endpoint: stored(podStrategy),
  table: { cells: podCells, rowConditions: podRowConditions },
  labels: {
    readers: {
      // A name of old for the same field.
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
});

function newPodWarnings(pod: KubeObject): string[] {
  return [
    ...hostnameWarnings(pod.metadata.name ?? "", "this is used in the Pod's hostname"),
    ...podWarnings(pod as unknown as JsonObject, ""),
  ];
}

/** A write that takes only some of the spec from what it is given, and all else from what is stored. */
function partOfPod(
  take: (given: JsonObject, spec: JsonObject) => void,
  validateUpdate: Strategy["validateUpdate"],
): Strategy {
  return {
    ...podStrategy,
    prepareForUpdate(object, old) {
      const { managedFields, resourceVersion } = object.metadata;
      const spec = { ...fieldsOf(old["spec"]) };
      take(fieldsOf(object["spec"]), spec);
      object["spec"] = spec;
      if (old["status"] !== undefined) object["status"] = old["status"];
      object.metadata = { ...old.metadata };
      if (managedFields !== undefined) object.metadata.managedFields = managedFields;
      if (resourceVersion !== undefined) object.metadata.resourceVersion = resourceVersion;
    },
    validateUpdate,
  };
}

/** Names and order as given, so that validation sees when they differ; of each container only what can be resized. */
function resizedContainers(given: readonly JsonObject[], old: readonly JsonObject[]): JsonObject[] {
  const byName = new Map(old.map((container) => [textOf(container["name"]), container]));
  return given.map((container) => {
    const before = byName.get(textOf(container["name"]));
    if (before === undefined) return container;
    const { resources: _resources, resizePolicy: _resizePolicy, ...rest } = before;
    const { resources, resizePolicy } = container;
    return {
      ...rest,
      ...(resources === undefined ? {} : { resources }),
      ...(resizePolicy === undefined ? {} : { resizePolicy }),
    };
  });
}

/** The node agent needs time to stop containers; a pod that no node runs needs none. */
function gracePeriodSeconds(pod: Pod, options: DeleteOptions): number {
  const asked = options.gracePeriodSeconds ?? pod.spec?.terminationGracePeriodSeconds ?? gracePeriodSecondsDefault;
  const phase = pod.status?.phase;
  if ((pod.spec?.nodeName ?? "") === "" || phase === "Succeeded" || phase === "Failed") return 0;
  return asked < 0 ? 1 : asked;
}

function firstPodIp(pod: JsonObject): string {
  const ips = valueAt(pod, ["status", "podIPs"]);
  const first = Array.isArray(ips) ? ips[0] : undefined;
  return first === undefined ? textAt(pod, ["status", "podIP"]) : textAt(first, ["ip"]);
}

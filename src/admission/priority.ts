import type { Pod, PodSpec } from "../api/types/core-v1.ts";
import type { PriorityClass } from "../api/types/scheduling-v1.ts";
import { systemPriorities } from "../kinds/scheduling/system-priorities.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../registry/admission.ts";
import type { ObjectLookup } from "../registry/object-lookup.ts";
import { isObjectWrite, refuse } from "./attributes.ts";
import { podSpecOf } from "./pod.ts";

const resource = { group: "scheduling.k8s.io", resource: "priorityclasses" };
const defaultPolicy = "PreemptLowerPriority";

/** Sets the priority of pods from their class, and allows at most one default class. */
export function priority({ lookup }: { lookup: ObjectLookup }): AdmissionPlugin {
  return {
    name: "Priority",
    admit(attributes) {
      if (!isObjectWrite(attributes, { group: "", resource: "pods" })) return;
      const { object, oldObject } = attributes;
      const { spec } = object as Pod;
      if (spec === undefined) return;
      if (attributes.operation === "UPDATE") keepPriority(spec, podSpecOf(oldObject as Pod));
      else assignPriority(attributes, spec, lookup);
    },
    validate(attributes) {
      if (!isObjectWrite(attributes, resource)) return;
      const { object } = attributes;
      if ((object as PriorityClass).globalDefault !== true) return;
      const other = globalDefault(lookup);
      if (other === undefined || other.metadata.name === object?.metadata.name) return;
      throw refuse(
        attributes,
        `PriorityClass ${other.metadata.name} is already marked as default. Only one default can exist`,
      );
    },
  };
}

/** Keeps the pod's priority in an update that omits it. */
function keepPriority(spec: PodSpec, old: PodSpec): void {
  if (spec.priority === undefined && old.priority !== undefined) spec.priority = old.priority;
  if (spec.preemptionPolicy === undefined && old.preemptionPolicy !== undefined) {
    spec.preemptionPolicy = old.preemptionPolicy;
  }
}

/** Sets the priority of a new pod. @throws StatusError 403 */
function assignPriority(attributes: AdmissionAttributes, spec: PodSpec, lookup: ObjectLookup): void {
  const { name, value, policy } = computedPriority(attributes, spec, lookup);
  if (spec.priority !== undefined && spec.priority !== value) {
    throw refuse(
      attributes,
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
    );
  }
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== policy) {
    throw refuse(
      attributes,
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`,
    );
  }
  if (name !== "") spec.priorityClassName = name;
  spec.priority = value;
  spec.preemptionPolicy = policy;
}

function computedPriority(
  attributes: AdmissionAttributes,
  { priorityClassName = "" }: PodSpec,
  lookup: ObjectLookup,
): { name: string; value: number; policy: string } {
  if (priorityClassName === "") {
    const found = globalDefault(lookup);
    if (found === undefined) return { name: "", value: 0, policy: defaultPolicy };
    return {
      name: found.metadata.name ?? "",
      value: found.value ?? 0,
      policy: found.preemptionPolicy ?? defaultPolicy,
    };
  }
  const found = lookup.get(resource, "", priorityClassName) as PriorityClass | undefined;
  // Pods of the control plane must not wait until the objects of these classes exist.
  const value = found?.value ?? systemPriorities.get(priorityClassName);
  if (value === undefined) {
    throw refuse(attributes, `no PriorityClass with name ${priorityClassName} was found`);
  }
  return { name: priorityClassName, value, policy: found?.preemptionPolicy ?? defaultPolicy };
}

/** Returns the default class. Two of them can only be older than the plugin; then the lowest counts. */
function globalDefault(lookup: ObjectLookup): PriorityClass | undefined {
  const defaults = (lookup.list(resource, "") as readonly PriorityClass[]).filter(
    (found) => found.globalDefault === true,
  );
  return defaults.reduce<PriorityClass | undefined>(
    (lowest, found) => (lowest === undefined || (found.value ?? 0) < (lowest.value ?? 0) ? found : lowest),
    undefined,
  );
}

import { equalJson, type JsonObject } from "../api/json.ts";
import { isGivenEmpty } from "../api/schema/given-empty.ts";
import { status } from "../api/status.ts";
import type { Pod, PodSpec } from "../api/types/core-v1.ts";
import type { RuntimeClass } from "../api/types/node-v1.ts";
import { unaskableName } from "../api/validation/names.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../registry/admission.ts";
import type { ObjectLookup } from "../registry/object-lookup.ts";
import { isObjectWrite, refuse } from "./attributes.ts";

/** Adds the overhead and the scheduling constraints of a pod's runtime class. */
export function runtimeClass({ lookup }: { lookup: ObjectLookup }): AdmissionPlugin {
  return {
    name: "RuntimeClass",
    admit(attributes) {
      const spec = createdPodSpec(attributes);
      if (spec === undefined) return;
      const found = findClass(attributes, spec, lookup);
      if (found === undefined) return;
      setOverhead(attributes, spec, found);
      setScheduling(attributes, spec, found);
    },
    validate(attributes) {
      const spec = createdPodSpec(attributes);
      if (spec === undefined) return;
      const found = findClass(attributes, spec, lookup);
      const expected = found?.overhead?.podFixed ?? {};
      const isExpected = equalJson(spec.overhead ?? {}, expected);
      if (isExpected && (found !== undefined || !isGivenEmpty(spec, "overhead"))) return;
      if (found === undefined) {
        throw refuse(attributes, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
      }
      throw refuse(attributes, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
    },
  };
}

function createdPodSpec(attributes: AdmissionAttributes): PodSpec | undefined {
  if (attributes.operation !== "CREATE" || !isObjectWrite(attributes, { group: "", resource: "pods" }))
    return undefined;
  return (attributes.object as Pod).spec;
}

/**
 * Returns the runtime class.
 * @throws StatusError 403 for a class that does not exist, 500 for a name that upstream's client cannot ask for
 */
function findClass(
  attributes: AdmissionAttributes,
  { runtimeClassName }: PodSpec,
  lookup: ObjectLookup,
): RuntimeClass | undefined {
  if (runtimeClassName === undefined) return undefined;
  const unaskable = unaskableName(runtimeClassName);
  if (unaskable !== undefined) throw status.unconverted(unaskable);
  const found = lookup.get({ group: "node.k8s.io", resource: "runtimeclasses" }, "", runtimeClassName);
  if (found === undefined) {
    throw refuse(attributes, `pod rejected: RuntimeClass ${JSON.stringify(runtimeClassName)} not found`);
  }
  return found as RuntimeClass;
}

function setOverhead(attributes: AdmissionAttributes, spec: PodSpec, { overhead }: RuntimeClass): void {
  const fixed = overhead?.podFixed;
  if (fixed === undefined) return;
  if (spec.overhead !== undefined && !equalJson(spec.overhead, fixed)) {
    throw refuse(attributes, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
  }
  spec.overhead = { ...fixed };
}

function setScheduling(attributes: AdmissionAttributes, spec: PodSpec, { scheduling }: RuntimeClass): void {
  const selector = scheduling?.nodeSelector ?? {};
  for (const [key, value] of Object.entries(selector)) {
    const own = spec.nodeSelector?.[key];
    if (own !== undefined && own !== value) {
      throw refuse(
        attributes,
        `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own}`,
      );
    }
  }
  if (Object.keys(selector).length > 0) spec.nodeSelector = { ...spec.nodeSelector, ...selector };
  const tolerations = spec.tolerations ?? [];
  const added = (scheduling?.tolerations ?? []).filter(
    (toleration) => !tolerations.some((own) => equalJson(own as JsonObject, toleration as JsonObject)),
  );
  if (added.length > 0) spec.tolerations = [...tolerations, ...added.map((toleration) => ({ ...toleration }))];
}

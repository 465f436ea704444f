import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonValue } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { numberOf } from "../../../api/validation/fields.ts";
import { validatePreemptionPolicy } from "../../core/validation/pod-spec.ts";

/** Above this are the classes of the system. */
const userPriorityMax = 1_000_000_000;
const systemPrefix = "system-";
const systemPriorities: ReadonlyMap<string, number> = new Map([
  ["system-node-critical", 2_000_001_000],
  ["system-cluster-critical", 2_000_000_000],
]);

export function validatePriorityClass(priorityClass: KubeObject): FieldError[] {
  const policy = priorityClass["preemptionPolicy"] as JsonValue | undefined;
  return [...validateValue(priorityClass), ...validatePreemptionPolicy(policy, "preemptionPolicy")];
}

export function validatePriorityClassUpdate(priorityClass: KubeObject, old: KubeObject): FieldError[] {
  const valueOf = (object: KubeObject) => numberOf(object["value"] as JsonValue | undefined);
  const policyOf = (object: KubeObject) => object["preemptionPolicy"] as JsonValue | undefined;
  return [
    ...(valueOf(priorityClass) === valueOf(old)
      ? []
      : [fieldError.forbidden("value", "may not be changed in an update.")]),
    ...validateImmutable(policyOf(priorityClass), policyOf(old), "preemptionPolicy"),
  ];
}

function validateValue(priorityClass: KubeObject): FieldError[] {
  const name = priorityClass.metadata.name ?? "";
  const value = numberOf(priorityClass["value"] as JsonValue | undefined);
  if (!name.startsWith(systemPrefix)) {
    if (value <= userPriorityMax) return [];
    const text = `maximum allowed value of a user defined priority is ${userPriorityMax}`;
    return [fieldError.forbidden("value", text)];
  }
  const problem = systemProblem(name, value, priorityClass["globalDefault"] === true);
  if (problem === undefined) return [];
  const text = `priority class names with '${systemPrefix}' prefix are reserved for system use only. error: ${problem}`;
  return [fieldError.forbidden("metadata.name", text)];
}

function systemProblem(name: string, value: number, globalDefault: boolean): string | undefined {
  const known = systemPriorities.get(name);
  if (known === undefined) return `${name} is not a known system priority class`;
  if (known !== value) return `value of ${name} PriorityClass must be ${known}`;
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}

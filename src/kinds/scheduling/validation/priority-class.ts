import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type * as schedulingV1 from "../../../api/types/scheduling-v1.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { validatePreemptionPolicy } from "../../core/validation/pod-spec.ts";
import { systemPriorities } from "../system-priorities.ts";

/** Above this are the classes of the system. */
const userPriorityMax = 1_000_000_000;
const systemPrefix = "system-";

export function validatePriorityClass(priorityClass: schedulingV1.PriorityClass): FieldError[] {
  return [
    ...validateValue(priorityClass),
    ...validatePreemptionPolicy(priorityClass.preemptionPolicy, "preemptionPolicy"),
  ];
}

export function validatePriorityClassUpdate(
  priorityClass: schedulingV1.PriorityClass,
  old: schedulingV1.PriorityClass,
): FieldError[] {
  return [
    ...(priorityClass.value === old.value ? [] : [fieldError.forbidden("value", "may not be changed in an update.")]),
    ...validateImmutable(priorityClass.preemptionPolicy, old.preemptionPolicy, "preemptionPolicy"),
  ];
}

function validateValue({ metadata, value, globalDefault = false }: schedulingV1.PriorityClass): FieldError[] {
  const { name = "" } = metadata;
  if (!name.startsWith(systemPrefix)) {
    if (value <= userPriorityMax) return [];
    const text = `maximum allowed value of a user defined priority is ${userPriorityMax}`;
    return [fieldError.forbidden("value", text)];
  }
  const problem = systemProblem(name, value, globalDefault);
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

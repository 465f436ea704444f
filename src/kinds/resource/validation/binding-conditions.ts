import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { labelKeyErrors } from "../../../api/label-syntax.ts";
import { validateBoundedList } from "../../../api/validation/bounded-list.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const conditionsMax = 4;

/** Conditions to meet before a pod is bound, and conditions that say it will not be. Neither is of use alone. */
interface BindingConditions {
  readonly bindingConditions?: readonly string[];
  readonly bindingFailureConditions?: readonly string[];
}

export function validateBindingConditions(owner: BindingConditions, field: string): FieldError[] {
  const { bindingConditions: needed = [], bindingFailureConditions: failed = [] } = owner;
  const path = (list: keyof BindingConditions) => `${field}.${list}`;
  const lacks = (list: keyof BindingConditions, other: keyof BindingConditions) =>
    fieldError.invalid(path(list), null, `${list} are required to use ${other}`);
  return [
    ...validateBoundedList(needed, conditionsMax, validateType, path("bindingConditions")),
    ...validateBoundedList(failed, conditionsMax, validateType, path("bindingFailureConditions")),
    ...validateDistinct(needed, [], path("bindingConditions")),
    ...validateDistinct(failed, needed, path("bindingFailureConditions")),
    ...(needed.length === 0 && failed.length > 0 ? [lacks("bindingConditions", "bindingFailureConditions")] : []),
    ...(failed.length === 0 && needed.length > 0 ? [lacks("bindingFailureConditions", "bindingConditions")] : []),
  ];
}

function validateType(type: string, field: string): FieldError[] {
  return labelKeyErrors(type).map((problem) => fieldError.invalid(field, type, problem));
}

function validateDistinct(types: readonly string[], others: readonly string[], field: string): FieldError[] {
  const seen = new Set<string>();
  const other = new Set(others);
  const overlap = "bindingFailureConditions must not overlap with bindingConditions";
  return validateEach(types, (type, at) => {
    const path = `${field}[${at}]`;
    const isRepeated = seen.has(type);
    seen.add(type);
    return [
      ...(isRepeated ? [fieldError.duplicate(path, type)] : []),
      ...(other.has(type) ? [fieldError.invalid(path, type, overlap)] : []),
    ];
  });
}

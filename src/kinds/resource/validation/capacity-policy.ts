import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { addQuantities, compareQuantities, formatQuantity, type Quantity } from "../../../api/quantity.ts";
import type * as resourceV1 from "../../../api/types/resource-v1.ts";
import { validateBoundedSet } from "../../../api/validation/bounded-list.ts";
import { parsedQuantity } from "../../../api/validation/quantity.ts";

const optionsMax = 10;

/** Validates how much of a shared capacity one claim may take: some amounts, or a range of them. */
export function validateCapacityPolicy(
  policy: resourceV1.CapacityRequestPolicy,
  capacity: string,
  field: string,
): FieldError[] {
  const { default: usual, validValues: values = [], validRange } = policy;
  if (values.length > 0 && validRange !== undefined) {
    const text = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time';
    return [fieldError.forbidden(field, text)];
  }
  const kind = values.length > 0 ? "validValues" : "validRange";
  if (values.length === 0 && validRange === undefined) return [];
  const [normal, max] = [usual === undefined ? undefined : parsedQuantity(usual), parsedQuantity(capacity)];
  if (normal === undefined) return [fieldError.required(`${field}.default`, `required when ${kind} is defined`)];
  if (max === undefined) return [];
  return kind === "validValues"
    ? validateOptions(values, { normal, max }, `${field}.validValues`)
    : validateRange(validRange ?? {}, { normal, max }, `${field}.validRange`);
}

interface Bounds {
  /** The amount for a claim that does not say one. */
  readonly normal: Quantity;
  readonly max: Quantity;
}

function validateOptions(values: readonly string[], { normal, max }: Bounds, field: string): FieldError[] {
  const options = values.map(parsedQuantity);
  const errors = options.flatMap((option, at) => {
    const next = options[at + 1];
    if (option === undefined || next === undefined || compareQuantities(option, next) <= 0) return [];
    return [
      fieldError.invalid(`${field}[${at + 1}]`, formatQuantity(next), "values must be sorted in ascending order"),
    ];
  });
  const validate = (value: string, path: string) => {
    const option = parsedQuantity(value);
    if (option === undefined || compareQuantities(option, max) <= 0) return [];
    return [fieldError.invalid(path, value, `option is larger than capacity value: ${formatQuantity(max)}`)];
  };
  errors.push(...validateBoundedSet(values, { max: optionsMax, keyOf: (value) => value, validate }, field));
  if (options.some((option) => option !== undefined && compareQuantities(option, normal) === 0)) return errors;
  const text = "default value is not valid according to the requestPolicy";
  return [...errors, fieldError.invalid(field, formatQuantity(normal), text)];
}

function validateRange(
  range: Partial<resourceV1.CapacityRequestPolicyRange>,
  { normal, max: capacity }: Bounds,
  field: string,
): FieldError[] {
  const read = (amount: string | undefined) => (amount === undefined ? undefined : parsedQuantity(amount));
  const [min, max, step] = [read(range.min), read(range.max), read(range.step)];
  if (min === undefined) return [fieldError.required(`${field}.min`, "required when validRange is defined")];
  const errors: FieldError[] = [];
  const check = (isWrong: boolean, name: string, value: Quantity, text: string, bound: Quantity) => {
    if (isWrong)
      errors.push(fieldError.invalid(`${field}.${name}`, formatQuantity(value), `${text}: ${formatQuantity(bound)}`));
  };
  const isMore = (a: Quantity, b: Quantity) => compareQuantities(a, b) > 0;
  check(isMore(min, capacity), "min", min, "min is larger than capacity value", capacity);
  check(isMore(min, normal), "min", normal, "default is less than min", min);
  if (max !== undefined) {
    check(isMore(min, max), "max", min, "min is larger than max", max);
    check(isMore(max, capacity), "max", max, "max is larger than capacity value", capacity);
    check(isMore(normal, max), "max", normal, "default is more than max", max);
  }
  if (step === undefined) return errors;
  const first = addQuantities(min, step);
  check(
    isMore(first, capacity),
    "step",
    step,
    `one step ${formatQuantity(first)} is larger than capacity value`,
    capacity,
  );
  return [...errors, ...[normal, max].flatMap((value) => validateStep(value, { min, step }, `${field}.step`))];
}

function validateStep(
  value: Quantity | undefined,
  { min, step }: { min: Quantity; step: Quantity },
  field: string,
): FieldError[] {
  if (value === undefined) return [];
  if (step.nanos > 0n && (value.nanos - min.nanos) % step.nanos === 0n) return [];
  const text = `value is not a multiple of a given step (${formatQuantity(step)}) from (${formatQuantity(min)})`;
  return [fieldError.invalid(field, formatQuantity(value), text)];
}

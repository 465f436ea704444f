import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { dnsLabelProblems, pathSegmentProblems } from "../../../api/validation/names.ts";
import { isPresent, numberOf, objectsOf, textOf, validateText } from "../../../api/validation/fields.ts";
import { parsedQuantity } from "../../../api/validation/quantity.ts";
import { validateContainerResourceName } from "../../../api/validation/resource-name.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

type SourceRule = (source: JsonObject, field: string) => FieldError[];

/** Field of a source, in the order in which upstream looks at them, and the type that goes with it. */
const sources: readonly (readonly [field: string, type: string, rule: SourceRule])[] = [
  ["object", "Object", validateObjectSource],
  ["external", "External", validateExternalSource],
  ["pods", "Pods", validatePodsSource],
  ["resource", "Resource", validateResourceSource],
  ["containerResource", "ContainerResource", validateContainerResourceSource],
];
const types = sources.map(([, type]) => type).sort();
const targetTypes = ["Utilization", "Value", "AverageValue"];
const rawOrUtilization = "must set either a target raw value or a target utilization";
const notRawAndUtilization = "may not set both a target raw value and a target utilization";

/** @param toZero with no pods there is nothing to measure them by: another metric has to say when one is needed */
export function validateMetrics(value: JsonValue | undefined, toZero: boolean, field: string): FieldError[] {
  const metrics = objectsOf(value);
  const errors = validateEach(metrics, (metric, at) => validateMetric(metric, `${field}[${at}]`));
  const hasOther = metrics.some(({ type }) => type === "Object" || type === "External");
  if (!toZero || hasOther) return errors;
  const text = "must specify at least one Object or External metric to support scaling to zero replicas";
  return [...errors, fieldError.forbidden(field, text)];
}

/** `{apiVersion, kind, name}` of another object. */
export function validateObjectReference(reference: JsonObject, field: string): FieldError[] {
  return ["kind", "name"].flatMap((name) =>
    textOf(reference[name]) === ""
      ? [fieldError.required(`${field}.${name}`)]
      : validateText(reference[name], pathSegmentProblems, `${field}.${name}`),
  );
}

function validateMetric(metric: JsonObject, field: string): FieldError[] {
  const type = textOf(metric["type"]);
  const errors = type === "" ? [fieldError.required(`${field}.type`, "must specify a metric source type")] : [];
  if (!types.includes(type)) errors.push(fieldError.notSupported(`${field}.type`, type, types));
  const set = sources.filter(([name]) => isPresent(metric[name]));
  const [first] = set;
  if (first !== undefined) errors.push(...first[2](fieldsOf(metric[first[0]]), `${field}.${first[0]}`));
  const expected = sources.find(([, name]) => name === type)?.[0];
  if (expected !== undefined && !isPresent(metric[expected])) {
    const text = "must populate information for the given metric source";
    errors.push(fieldError.required(`${field}.${expected}`, text));
  }
  if (set.length === 1) return errors;
  const surplus = set.map(([name]) => name).filter((name) => name !== expected);
  return [
    ...errors,
    ...surplus.map((name) => fieldError.forbidden(`${field}.${name}`, "must populate the given metric source only")),
  ];
}

function validateObjectSource(source: JsonObject, field: string): FieldError[] {
  const target = fieldsOf(source["target"]);
  return [
    ...validateObjectReference(fieldsOf(source["describedObject"]), `${field}.describedObject`),
    ...validateIdentifier(fieldsOf(source["metric"]), `${field}.metric`),
    ...validateTarget(target, `${field}.target`),
    ...(isPresent(target["value"]) || isPresent(target["averageValue"])
      ? []
      : [fieldError.required(`${field}.target.averageValue`, "must set either a target value or averageValue")]),
  ];
}

function validateExternalSource(source: JsonObject, field: string): FieldError[] {
  const target = fieldsOf(source["target"]);
  const [value, average] = [isPresent(target["value"]), isPresent(target["averageValue"])];
  const errors = [
    ...validateIdentifier(fieldsOf(source["metric"]), `${field}.metric`),
    ...validateTarget(target, `${field}.target`),
  ];
  if (!value && !average) {
    const text = "must set either a target value for metric or a per-pod target";
    errors.push(fieldError.required(`${field}.target.averageValue`, text));
  }
  if (value && average) {
    const text = "may not set both a target value for metric and a per-pod target";
    errors.push(fieldError.forbidden(`${field}.target.value`, text));
  }
  return errors;
}

function validatePodsSource(source: JsonObject, field: string): FieldError[] {
  const target = fieldsOf(source["target"]);
  return [
    ...validateIdentifier(fieldsOf(source["metric"]), `${field}.metric`),
    ...validateTarget(target, `${field}.target`),
    ...(isPresent(target["averageValue"])
      ? []
      : [fieldError.required(`${field}.target.averageValue`, "must specify a positive target averageValue")]),
  ];
}

function validateResourceSource(source: JsonObject, field: string): FieldError[] {
  return [
    ...(textOf(source["name"]) === "" ? [fieldError.required(`${field}.name`, "must specify a resource name")] : []),
    ...validateUtilizationTarget(fieldsOf(source["target"]), `${field}.target`),
  ];
}

function validateContainerResourceSource(source: JsonObject, field: string): FieldError[] {
  const [name, container] = [textOf(source["name"]), textOf(source["container"])];
  return [
    ...(name === ""
      ? [fieldError.required(`${field}.name`, "must specify a resource name")]
      : validateContainerResourceName(name, `${field}.name`)),
    ...(container === "" ? [fieldError.required(`${field}.container`, "must specify a container")] : []),
    ...validateText(container, dnsLabelProblems, `${field}.container`),
    ...validateUtilizationTarget(fieldsOf(source["target"]), `${field}.target`),
  ];
}

/** Of a resource that pods request: either an amount, or a share of the request. */
function validateUtilizationTarget(target: JsonObject, field: string): FieldError[] {
  const [share, amount] = [isPresent(target["averageUtilization"]), isPresent(target["averageValue"])];
  const errors = validateTarget(target, field);
  if (!share && !amount) errors.push(fieldError.required(`${field}.averageUtilization`, rawOrUtilization));
  if (share && amount) errors.push(fieldError.forbidden(`${field}.averageValue`, notRawAndUtilization));
  return errors;
}

function validateTarget(target: JsonObject, field: string): FieldError[] {
  const type = textOf(target["type"]);
  const errors = type === "" ? [fieldError.required(`${field}.type`, "must specify a metric target type")] : [];
  if (!targetTypes.includes(type)) {
    errors.push(fieldError.invalid(`${field}.type`, type, "must be either Utilization, Value, or AverageValue"));
  }
  for (const name of ["value", "averageValue"]) {
    const quantity = isPresent(target[name]) ? parsedQuantity(target[name]) : undefined;
    if (quantity === undefined || quantity.nanos > 0n) continue;
    errors.push(fieldError.invalid(`${field}.${name}`, target[name], "must be positive"));
  }
  const share = target["averageUtilization"];
  if (isPresent(share) && numberOf(share) < 1) {
    errors.push(fieldError.invalid(`${field}.averageUtilization`, share, "must be greater than 0"));
  }
  return errors;
}

function validateIdentifier({ name }: JsonObject, field: string): FieldError[] {
  if (textOf(name) === "") return [fieldError.required(`${field}.name`, "must specify a metric name")];
  return validateText(name, pathSegmentProblems, `${field}.name`);
}

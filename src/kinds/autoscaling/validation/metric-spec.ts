import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type {
  ContainerResourceMetricSource,
  ExternalMetricSource,
  MetricIdentifier,
  MetricSpec,
  MetricTarget,
  ObjectMetricSource,
  PodsMetricSource,
  ResourceMetricSource,
} from "../../../api/types/autoscaling-v2.ts";
import { validateText } from "../../../api/validation/field-rules.ts";
import { dnsLabelProblems, pathSegmentProblems } from "../../../api/validation/names.ts";
import { parsedQuantity } from "../../../api/validation/quantity.ts";
import { validateContainerResourceName } from "../../../api/validation/resource-name.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { validateObjectReference } from "./object-reference.ts";

interface MetricContext {
  /** With no pods there is nothing to measure them by: another metric has to say when one is needed. */
  readonly toZero: boolean;
  /** Objects had malformed versions already. */
  readonly anyVersion: boolean;
}

/** Fields of sources with their types, in the order in which upstream checks them. */
const sources = [
  ["object", "Object"],
  ["external", "External"],
  ["pods", "Pods"],
  ["resource", "Resource"],
  ["containerResource", "ContainerResource"],
] as const;
type SourceField = (typeof sources)[number][0];
const types: readonly string[] = sources.map(([, type]) => type).sort();
const targetTypes = ["Utilization", "Value", "AverageValue"];
const rawOrUtilization = "must set either a target raw value or a target utilization";
const notRawAndUtilization = "may not set both a target raw value and a target utilization";

export function validateMetrics(metrics: readonly MetricSpec[], context: MetricContext, field: string): FieldError[] {
  const errors = validateEach(metrics, (metric, at) => validateMetric(metric, context, `${field}[${at}]`));
  const hasOther = metrics.some(({ type }) => type === "Object" || type === "External");
  if (!context.toZero || hasOther) return errors;
  const text = "must specify at least one Object or External metric to support scaling to zero replicas";
  return [...errors, fieldError.forbidden(field, text)];
}

function validateMetric(metric: MetricSpec, context: MetricContext, field: string): FieldError[] {
  const { type } = metric;
  const unknown = types.includes(type) ? [] : [fieldError.notSupported(`${field}.type`, type, types)];
  const set = sources.map(([name]) => name).filter((name) => metric[name] !== undefined);
  const expected = sources.find(([, name]) => name === type)?.[0];
  return [
    ...(type === "" ? [fieldError.required(`${field}.type`, "must specify a metric source type")] : []),
    ...unknown,
    ...(set[0] === undefined ? [] : validateSource(metric, set[0], context, `${field}.${set[0]}`)),
    // Upstream checks the type again to find its source.
    ...unknown,
    ...(expected !== undefined && metric[expected] === undefined
      ? [fieldError.required(`${field}.${expected}`, "must populate information for the given metric source")]
      : []),
    ...(set.length === 1 ? [] : set)
      .filter((name) => name !== expected)
      .map((name) => fieldError.forbidden(`${field}.${name}`, "must populate the given metric source only")),
  ];
}

function validateSource(metric: MetricSpec, name: SourceField, context: MetricContext, field: string): FieldError[] {
  const { object, external, pods, resource, containerResource } = metric;
  if (name === "object") return object === undefined ? [] : validateObjectSource(object, context, field);
  if (name === "external") return external === undefined ? [] : validateExternalSource(external, field);
  if (name === "pods") return pods === undefined ? [] : validatePodsSource(pods, field);
  if (name === "resource") return resource === undefined ? [] : validateResourceSource(resource, field);
  return containerResource === undefined ? [] : validateContainerResourceSource(containerResource, field);
}

function validateObjectSource(source: ObjectMetricSource, { anyVersion }: MetricContext, field: string): FieldError[] {
  const { describedObject, metric, target } = source;
  const errors = [
    ...validateObjectReference(describedObject, anyVersion ? "any" : "version", `${field}.describedObject`),
    ...validateIdentifier(metric, `${field}.metric`),
    ...validateTarget(target, `${field}.target`),
  ];
  if (target.value !== undefined || target.averageValue !== undefined) return errors;
  const text = "must set either a target value or averageValue";
  return [...errors, fieldError.required(`${field}.target.averageValue`, text)];
}

function validateExternalSource({ metric, target }: ExternalMetricSource, field: string): FieldError[] {
  const { value, averageValue } = target;
  const errors = [...validateIdentifier(metric, `${field}.metric`), ...validateTarget(target, `${field}.target`)];
  if (value === undefined && averageValue === undefined) {
    const text = "must set either a target value for metric or a per-pod target";
    errors.push(fieldError.required(`${field}.target.averageValue`, text));
  }
  if (value !== undefined && averageValue !== undefined) {
    const text = "may not set both a target value for metric and a per-pod target";
    errors.push(fieldError.forbidden(`${field}.target.value`, text));
  }
  return errors;
}

function validatePodsSource({ metric, target }: PodsMetricSource, field: string): FieldError[] {
  const errors = [...validateIdentifier(metric, `${field}.metric`), ...validateTarget(target, `${field}.target`)];
  if (target.averageValue !== undefined) return errors;
  const text = "must specify a positive target averageValue";
  return [...errors, fieldError.required(`${field}.target.averageValue`, text)];
}

function validateResourceSource({ name, target }: ResourceMetricSource, field: string): FieldError[] {
  return [
    ...(name === "" ? [fieldError.required(`${field}.name`, "must specify a resource name")] : []),
    ...validateUtilizationTarget(target, `${field}.target`),
  ];
}

function validateContainerResourceSource(source: ContainerResourceMetricSource, field: string): FieldError[] {
  const { name, container, target } = source;
  return [
    ...(name === ""
      ? [fieldError.required(`${field}.name`, "must specify a resource name")]
      : validateContainerResourceName(name, `${field}.name`)),
    ...(container === "" ? [fieldError.required(`${field}.container`, "must specify a container")] : []),
    ...validateText(container, dnsLabelProblems, `${field}.container`),
    ...validateUtilizationTarget(target, `${field}.target`),
  ];
}

/** Validates the target of a resource that pods request: either an amount, or a share of the request. */
function validateUtilizationTarget(target: MetricTarget, field: string): FieldError[] {
  const [hasShare, hasAmount] = [target.averageUtilization !== undefined, target.averageValue !== undefined];
  const errors = validateTarget(target, field);
  if (!hasShare && !hasAmount) errors.push(fieldError.required(`${field}.averageUtilization`, rawOrUtilization));
  if (hasShare && hasAmount) errors.push(fieldError.forbidden(`${field}.averageValue`, notRawAndUtilization));
  return errors;
}

function validateTarget(target: MetricTarget, field: string): FieldError[] {
  const { type, averageUtilization: share } = target;
  const errors = type === "" ? [fieldError.required(`${field}.type`, "must specify a metric target type")] : [];
  if (!targetTypes.includes(type)) {
    errors.push(fieldError.invalid(`${field}.type`, type, "must be either Utilization, Value, or AverageValue"));
  }
  for (const name of ["value", "averageValue"] as const) {
    const amount = target[name];
    const quantity = amount === undefined ? undefined : parsedQuantity(amount);
    if (quantity === undefined || quantity.nanos > 0n) continue;
    errors.push(fieldError.invalid(`${field}.${name}`, amount, "must be positive"));
  }
  if (share === undefined || share >= 1) return errors;
  return [...errors, fieldError.invalid(`${field}.averageUtilization`, share, "must be greater than 0")];
}

function validateIdentifier({ name }: MetricIdentifier, field: string): FieldError[] {
  if (name === "") return [fieldError.required(`${field}.name`, "must specify a metric name")];
  return validateText(name, pathSegmentProblems, `${field}.name`);
}

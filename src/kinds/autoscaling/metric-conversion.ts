import { isJsonObject, type JsonObject } from "../../api/json.ts";
import { objectOf } from "../../api/json-reading.ts";

/**
 * Metrics of an autoscaler in the form of autoscaling/v1, which puts names and values beside each other, and in that of
 * autoscaling/v2, which groups them as `metric` and `target` or `current`.
 */
interface SourceForm {
  /** Field of the source inside the metric. */
  readonly source: string;
  /** v1 name → v2 name of plain fields. */
  readonly plain: ReadonlyMap<string, string>;
  /** v1 name → name inside `metric`. */
  readonly metric: ReadonlyMap<string, string>;
  /** v1 name → name inside `target`. */
  readonly target: ReadonlyMap<string, string>;
  /** v1 name → name inside `current`. */
  readonly current: ReadonlyMap<string, string>;
  /** The v1 name of the current value that is always written. */
  readonly always: string;
  /** The type of a target with these values. */
  targetType(target: JsonObject): string;
}

const metricNames = new Map([
  ["metricName", "name"],
  ["selector", "selector"],
]);
const byUtilization = ({ averageUtilization }: JsonObject) =>
  averageUtilization === undefined ? "AverageValue" : "Utilization";

const resourceForm = {
  metric: new Map<string, string>(),
  target: new Map([
    ["targetAverageUtilization", "averageUtilization"],
    ["targetAverageValue", "averageValue"],
  ]),
  current: new Map([
    ["currentAverageUtilization", "averageUtilization"],
    ["currentAverageValue", "averageValue"],
  ]),
  always: "currentAverageValue",
  targetType: byUtilization,
};

const forms: readonly SourceForm[] = [
  {
    source: "object",
    plain: new Map([["target", "describedObject"]]),
    metric: metricNames,
    target: new Map([
      ["targetValue", "value"],
      ["averageValue", "averageValue"],
    ]),
    current: new Map([
      ["currentValue", "value"],
      ["averageValue", "averageValue"],
    ]),
    always: "currentValue",
    targetType: ({ averageValue }) => (averageValue === undefined ? "Value" : "AverageValue"),
  },
  {
    source: "pods",
    plain: new Map(),
    metric: metricNames,
    target: new Map([["targetAverageValue", "averageValue"]]),
    current: new Map([["currentAverageValue", "averageValue"]]),
    always: "currentAverageValue",
    targetType: () => "AverageValue",
  },
  { source: "resource", plain: new Map([["name", "name"]]), ...resourceForm },
  {
    source: "containerResource",
    plain: new Map([
      ["name", "name"],
      ["container", "container"],
    ]),
    ...resourceForm,
  },
  {
    source: "external",
    plain: new Map(),
    metric: new Map([
      ["metricName", "name"],
      ["metricSelector", "selector"],
    ]),
    target: new Map([
      ["targetValue", "value"],
      ["targetAverageValue", "averageValue"],
    ]),
    current: new Map([
      ["currentValue", "value"],
      ["currentAverageValue", "averageValue"],
    ]),
    always: "currentValue",
    targetType: ({ value }) => (value === undefined ? "AverageValue" : "Value"),
  },
];

/** autoscaling/v1 MetricSpec → autoscaling/v2. */
export function storedMetric(metric: JsonObject): JsonObject {
  return eachSource(metric, (source, form) => {
    const target = withoutFiller(picked(source, form.target));
    return {
      ...picked(source, form.plain),
      ...(form.metric.size === 0 ? {} : { metric: picked(source, form.metric) }),
      target: { type: form.targetType(target), ...target },
    };
  });
}

/** autoscaling/v1 MetricStatus → autoscaling/v2. */
export function storedMetricStatus(status: JsonObject): JsonObject {
  return eachSource(status, (source, form) => ({
    ...picked(source, form.plain),
    ...(form.metric.size === 0 ? {} : { metric: picked(source, form.metric) }),
    current: picked(source, form.current),
  }));
}

/** autoscaling/v2 MetricSpec → autoscaling/v1. */
export function servedMetric(metric: JsonObject): JsonObject {
  return eachSource(metric, (source, form) => ({
    ...spread(source, form.plain),
    ...spread(objectOf(source["metric"]), form.metric),
    ...spread(objectOf(source["target"]), form.target),
  }));
}

/** autoscaling/v2 MetricStatus → autoscaling/v1. */
export function servedMetricStatus(status: JsonObject): JsonObject {
  return eachSource(status, (source, form) => ({
    ...spread(source, form.plain),
    ...spread(objectOf(source["metric"]), form.metric),
    ...withZero(spread(objectOf(source["current"]), form.current), form.always),
  }));
}

/** Targets are positive: a zero beside another value only filled in a field that others always write. */
function withoutFiller(values: JsonObject): JsonObject {
  const names = Object.keys(values);
  if (names.length < 2) return values;
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== "0"));
}

function withZero(values: JsonObject, name: string): JsonObject {
  return values[name] === undefined ? { ...values, [name]: "0" } : values;
}

function eachSource(metric: JsonObject, convert: (source: JsonObject, form: SourceForm) => JsonObject): JsonObject {
  const converted: JsonObject = metric["type"] === undefined ? {} : { type: metric["type"] };
  for (const form of forms) {
    const source = metric[form.source];
    if (isJsonObject(source)) converted[form.source] = convert(source, form);
  }
  return converted;
}

/** The named fields under their other names. */
function picked(from: JsonObject, names: ReadonlyMap<string, string>): JsonObject {
  const values: JsonObject = {};
  for (const [name, other] of names) {
    const value = from[name];
    if (value !== undefined && value !== null) values[other] = value;
  }
  return values;
}

/** The way back of `picked`. */
function spread(from: JsonObject, names: ReadonlyMap<string, string>): JsonObject {
  const values: JsonObject = {};
  for (const [name, other] of names) {
    const value = from[other];
    if (value !== undefined && value !== null) values[name] = value;
  }
  return values;
}

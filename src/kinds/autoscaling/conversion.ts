import { stringifyJson } from "../../api/codec/json.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import { objectOf, objectsOf } from "../../api/json-reading.ts";
import type { Conversion, FitsType } from "../../api/scheme/resource.ts";
import { behaviorFromText, behaviorText } from "./behavior-text.ts";
import { parseJsonText } from "./json-text.ts";
import { servedMetric, servedMetricStatus, storedMetric, storedMetricStatus } from "./metric-conversion.ts";

/** Where autoscaling/v1 keeps what it has no fields for. They exist on the wire of that version alone. */
const annotations = {
  behavior: "autoscaling.alpha.kubernetes.io/behavior",
  conditions: "autoscaling.alpha.kubernetes.io/conditions",
  currentMetrics: "autoscaling.alpha.kubernetes.io/current-metrics",
  metrics: "autoscaling.alpha.kubernetes.io/metrics",
} as const;
const ours: ReadonlySet<string> = new Set(Object.values(annotations));

/**
 * autoscaling/v1 has one target, the CPU utilization; all other metrics, their values, conditions and the behaviour go
 * through annotations. autoscaling/v2 is the stored form.
 */
export function autoscalerConversion(fits: FitsType): Conversion {
  return {
    toStorage: (object) => autoscalerToStorage(object, fits),
    fromStorage: autoscalerFromStorage,
  };
}

function autoscalerToStorage(object: JsonObject, fits: FitsType): JsonObject {
  const { targetCPUUtilizationPercentage: target, ...spec } = objectOf(object["spec"]);
  const { currentCPUUtilizationPercentage: current, ...status } = objectOf(object["status"]);
  const texts = objectOf(objectOf(object["metadata"])["annotations"]);
  const metrics = itemsIn(texts[annotations.metrics], storedMetric, fits, "autoscaling/v2.MetricSpec");
  const all = target === undefined || target === null ? metrics : [cpuMetric(target), ...metrics];
  const values = itemsIn(texts[annotations.currentMetrics], storedMetricStatus, fits, "autoscaling/v2.MetricStatus");
  const known = values.length > 0 || current === undefined || current === null ? values : [cpuStatus(current)];
  const conditions = itemsIn(
    texts[annotations.conditions],
    (condition) => condition,
    fits,
    "autoscaling/v2.HorizontalPodAutoscalerCondition",
  );
  const behavior = behaviorFromText(texts[annotations.behavior]);
  const keepsBehavior = behavior !== undefined && fits("autoscaling/v2.HorizontalPodAutoscalerBehavior", behavior);
  return {
    ...object,
    metadata: withAnnotations(object["metadata"], {}),
    spec: { ...spec, ...(all.length === 0 ? {} : { metrics: all }), ...(keepsBehavior ? { behavior } : {}) },
    status: {
      ...status,
      ...(known.length === 0 ? {} : { currentMetrics: known }),
      ...(conditions.length === 0 ? {} : { conditions }),
    },
  };
}

function autoscalerFromStorage(object: JsonObject): JsonObject {
  const { metrics, behavior, ...spec } = objectOf(object["spec"]);
  const { currentMetrics, conditions, ...status } = objectOf(object["status"]);
  const all = objectsOf(metrics);
  const cpu = all.find(isCpu);
  const target = cpu && utilizationOf(cpu, "target");
  const others = target === undefined ? all : all.filter((metric) => metric !== cpu);
  const values = objectsOf(currentMetrics);
  const currentCpu = values.find(isCpu);
  const current = currentCpu && utilizationOf(currentCpu, "current");
  const states = objectsOf(conditions);
  return {
    ...object,
    metadata: withAnnotations(object["metadata"], {
      ...(isJsonObject(behavior) ? { [annotations.behavior]: behaviorText(behavior) } : {}),
      ...(states.length === 0 ? {} : { [annotations.conditions]: stringifyJson(states) }),
      ...(values.length === 0 ? {} : { [annotations.currentMetrics]: stringifyJson(values.map(servedMetricStatus)) }),
      ...(others.length === 0 ? {} : { [annotations.metrics]: stringifyJson(others.map(servedMetric)) }),
    }),
    spec: { ...spec, ...(target === undefined ? {} : { targetCPUUtilizationPercentage: target }) },
    status: { ...status, ...(current === undefined ? {} : { currentCPUUtilizationPercentage: current }) },
  };
}

function cpuMetric(averageUtilization: JsonValue): JsonObject {
  return { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization } } };
}

function cpuStatus(averageUtilization: JsonValue): JsonObject {
  return { type: "Resource", resource: { name: "cpu", current: { averageUtilization } } };
}

function isCpu(metric: JsonObject): boolean {
  return metric["type"] === "Resource" && objectOf(metric["resource"])["name"] === "cpu";
}

function utilizationOf(metric: JsonObject, field: "target" | "current"): JsonValue | undefined {
  return objectOf(objectOf(metric["resource"])[field])["averageUtilization"];
}

/** Returns the metadata with these annotations, and without our other ones. */
function withAnnotations(metadata: JsonValue | undefined, set: Readonly<Record<string, string>>): JsonObject {
  const { annotations: old, ...rest } = objectOf(metadata);
  const theirs = Object.entries(objectOf(old)).filter(([key]) => !ours.has(key));
  const all = [...theirs, ...Object.entries(set)];
  return all.length === 0 ? rest : { ...rest, annotations: Object.fromEntries(all) };
}

function itemsIn(
  text: JsonValue | undefined,
  convert: (item: JsonObject) => JsonObject,
  fits: FitsType,
  typeName: string,
): JsonObject[] {
  const items = objectsOf(parseJsonText(text)).map(convert);
  return items.every((item) => fits(typeName, item)) ? items : [];
}

import { firstFew } from "../../api/codec/table/cell-text.ts";
import { numberOf, objectOf, objectsOf, textOf } from "../../api/json-reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";

/** Metrics shown before the rest is only counted. */
const metricsShownMax = 2;

const unknown = "<unknown>";

/** The member of a metric that its type names. */
const sources: Readonly<Record<string, string>> = {
  Resource: "resource",
  ContainerResource: "containerResource",
  Pods: "pods",
  Object: "object",
  External: "external",
};

export function horizontalPodAutoscalerCells(autoscaler: JsonObject): Cells {
  const spec = objectOf(autoscaler["spec"]);
  const status = objectOf(autoscaler["status"]);
  const target = objectOf(spec["scaleTargetRef"]);
  return {
    Reference: `${textOf(target["kind"])}/${textOf(target["name"])}`,
    Targets: targetsText(objectsOf(spec["metrics"]), objectsOf(status["currentMetrics"])),
    MinPods: spec["minReplicas"] === undefined ? "<unset>" : String(numberOf(spec["minReplicas"])),
    MaxPods: numberOf(spec["maxReplicas"]),
    Replicas: numberOf(status["currentReplicas"]),
  };
}

/** Current and wanted value of each metric; the current ones stand in the same order. */
function targetsText(specs: readonly JsonObject[], current: readonly JsonObject[]): string {
  if (specs.length === 0) return "<none>";
  return firstFew(
    specs.map((spec, at) => metricText(spec, current[at] ?? {})),
    metricsShownMax,
    ", ",
  );
}

function metricText(metric: JsonObject, current: JsonObject): string {
  const type = textOf(metric["type"]);
  const field = sources[type];
  if (field === undefined) return "<unknown type>";
  const source = objectOf(metric[field]);
  const target = objectOf(source["target"]);
  const now = objectOf(objectOf(current[field])["current"]);
  switch (type) {
    case "Pods":
      return `${valueText(now, "averageValue")}/${quantity(target, "averageValue")}`;
    case "Object":
    case "External":
      return target["averageValue"] === undefined
        ? `${valueText(now, "value")}/${quantity(target, "value")}`
        : `${valueText(now, "averageValue")}/${quantity(target, "averageValue")} (avg)`;
    default:
      return `${textOf(source["name"])}: ${resourceText(target, now)}`;
  }
}

function resourceText(target: JsonObject, now: JsonObject): string {
  if (target["averageValue"] !== undefined) {
    return `${valueText(now, "averageValue")}/${quantity(target, "averageValue")}`;
  }
  const [wanted, current] = [target["averageUtilization"], now["averageUtilization"]];
  const shown = current === undefined ? unknown : `${String(current)}%`;
  return `${shown}/${wanted === undefined ? "<auto>" : `${String(wanted)}%`}`;
}

function valueText(now: JsonObject, field: string): string {
  return now[field] === undefined ? unknown : quantity(now, field);
}

function quantity(object: JsonObject, field: string): string {
  const value = object[field];
  return value === undefined ? "0" : String(value);
}

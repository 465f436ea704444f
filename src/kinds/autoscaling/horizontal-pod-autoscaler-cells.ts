import { firstFew, numberIn, structIn, structsIn, textIn } from "../../api/codec/table/reading.ts";
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
  const spec = structIn(autoscaler, "spec");
  const status = structIn(autoscaler, "status");
  const target = structIn(spec, "scaleTargetRef");
  return {
    Reference: `${textIn(target, "kind")}/${textIn(target, "name")}`,
    Targets: targetsText(structsIn(spec, "metrics"), structsIn(status, "currentMetrics")),
    MinPods: spec["minReplicas"] === undefined ? "<unset>" : String(numberIn(spec, "minReplicas")),
    MaxPods: numberIn(spec, "maxReplicas"),
    Replicas: numberIn(status, "currentReplicas"),
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
  const type = textIn(metric, "type");
  const field = sources[type];
  if (field === undefined) return "<unknown type>";
  const source = structIn(metric, field);
  const target = structIn(source, "target");
  const now = structIn(structIn(current, field), "current");
  switch (type) {
    case "Pods":
      return `${valueText(now, "averageValue")}/${quantity(target, "averageValue")}`;
    case "Object":
    case "External":
      return target["averageValue"] === undefined
        ? `${valueText(now, "value")}/${quantity(target, "value")}`
        : `${valueText(now, "averageValue")}/${quantity(target, "averageValue")} (avg)`;
    default:
      return `${textIn(source, "name")}: ${resourceText(target, now)}`;
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

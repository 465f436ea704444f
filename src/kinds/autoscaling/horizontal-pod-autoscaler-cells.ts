import { firstFew } from "../../api/codec/table/cell-text.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type {
  HorizontalPodAutoscaler,
  MetricSpec,
  MetricStatus,
  MetricTarget,
  MetricValueStatus,
} from "../../api/types/autoscaling-v2.ts";

/** Metrics shown before the rest is only counted. */
const metricsShownMax = 2;

const unknown = "<unknown>";

export function horizontalPodAutoscalerCells({ spec, status }: HorizontalPodAutoscaler): Cells {
  const { kind = "", name = "" } = spec?.scaleTargetRef ?? {};
  return {
    Reference: `${kind}/${name}`,
    Targets: targetsText(spec?.metrics ?? [], status?.currentMetrics ?? []),
    MinPods: String(spec?.minReplicas ?? "<unset>"),
    MaxPods: spec?.maxReplicas ?? 0,
    Replicas: status?.currentReplicas ?? 0,
  };
}

/** Returns the current and the wanted value of each metric. The current ones are in the same order. */
function targetsText(specs: readonly MetricSpec[], current: readonly MetricStatus[]): string {
  if (specs.length === 0) return "<none>";
  return firstFew(
    specs.map((spec, at) => metricText(spec, current[at])),
    metricsShownMax,
    ", ",
  );
}

function metricText(metric: MetricSpec, current: MetricStatus | undefined): string {
  switch (metric.type) {
    case "Pods":
      return averageText(metric.pods?.target, current?.pods?.current);
    case "Object":
      return valueText(metric.object?.target, current?.object?.current);
    case "External":
      return valueText(metric.external?.target, current?.external?.current);
    case "Resource":
      return `${metric.resource?.name ?? ""}: ${resourceText(metric.resource?.target, current?.resource?.current)}`;
    case "ContainerResource": {
      const { name = "", target } = metric.containerResource ?? {};
      return `${name}: ${resourceText(target, current?.containerResource?.current)}`;
    }
    default:
      return "<unknown type>";
  }
}

function averageText(target: MetricTarget | undefined, now: MetricValueStatus | undefined): string {
  return `${now?.averageValue ?? unknown}/${target?.averageValue ?? "0"}`;
}

function valueText(target: MetricTarget | undefined, now: MetricValueStatus | undefined): string {
  if (target?.averageValue !== undefined) return `${averageText(target, now)} (avg)`;
  return `${now?.value ?? unknown}/${target?.value ?? "0"}`;
}

function resourceText(target: MetricTarget | undefined, now: MetricValueStatus | undefined): string {
  if (target?.averageValue !== undefined) return averageText(target, now);
  return `${percentText(now?.averageUtilization) ?? unknown}/${percentText(target?.averageUtilization) ?? "<auto>"}`;
}

function percentText(percent: number | undefined): string | undefined {
  return percent === undefined ? undefined : `${percent}%`;
}

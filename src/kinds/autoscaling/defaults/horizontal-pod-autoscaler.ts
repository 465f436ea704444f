import { isJsonObject, type JsonObject } from "../../../api/json.ts";
import { childOf, fillIn } from "../../../api/schema/spec-fields.ts";

const cpuMetric = {
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } },
};
/** Doubles the pods, or adds four, whichever is more, every quarter of a minute. */
const scaleUp = {
  stabilizationWindowSeconds: 0,
  selectPolicy: "Max",
  policies: [
    { type: "Pods", value: 4, periodSeconds: 15 },
    { type: "Percent", value: 100, periodSeconds: 15 },
  ],
};
const scaleDown = { selectPolicy: "Max", policies: [{ type: "Percent", value: 100, periodSeconds: 15 }] };

export function defaultAutoscaler(autoscaler: JsonObject): void {
  const spec = childOf(autoscaler, "spec");
  defaultReplicas(autoscaler);
  const metrics = spec["metrics"];
  if (!Array.isArray(metrics) || metrics.length === 0) {
    delete spec["metrics"];
    fillIn(spec, { metrics: [cpuMetric] });
  }
  const behavior = spec["behavior"];
  if (!isJsonObject(behavior)) return;
  fillIn(childOf(behavior, "scaleUp"), scaleUp);
  fillIn(childOf(behavior, "scaleDown"), scaleDown);
}

/** Sets the defaults that autoscaling/v1 has too. */
export function defaultReplicas(autoscaler: JsonObject): void {
  fillIn(childOf(autoscaler, "spec"), { minReplicas: 1 });
}

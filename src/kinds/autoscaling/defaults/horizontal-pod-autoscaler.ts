import { isJsonObject, type JsonObject } from "../../../api/json.ts";
import { isGivenEmpty } from "../../../api/schema/given-empty.ts";
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
  fillInRules(childOf(behavior, "scaleUp"), scaleUp);
  fillInRules(childOf(behavior, "scaleDown"), scaleDown);
}

/** An empty list of policies stays empty and is refused later. */
function fillInRules(rules: JsonObject, { policies, ...others }: typeof scaleUp | typeof scaleDown): void {
  fillIn(rules, isGivenEmpty(rules, "policies") ? others : { ...others, policies });
}

/** Sets the defaults that autoscaling/v1 has too. */
export function defaultReplicas(autoscaler: JsonObject): void {
  fillIn(childOf(autoscaler, "spec"), { minReplicas: 1 });
}

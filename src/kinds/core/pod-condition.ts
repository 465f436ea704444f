import type { JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { objectOf, objectsOf } from "../../api/json-reading.ts";

/** A condition of a pod as it is reported; when its status last changed is worked out. */
export interface PodCondition extends JsonObject {
  type: string;
  status: "True" | "False";
}

export function podConditionOf(pod: KubeObject, type: string): JsonObject | undefined {
  return conditionsOf(pod).find((condition) => condition["type"] === type);
}

/** Enters a condition in place of an older one of its type. `now` is RFC 3339. */
export function setPodCondition(pod: KubeObject, condition: PodCondition, now: string): void {
  const old = podConditionOf(pod, condition.type);
  const lastTransitionTime = old?.["status"] === condition.status ? (old["lastTransitionTime"] ?? now) : now;
  const entered = { ...condition, lastTransitionTime };
  const conditions = conditionsOf(pod);
  const next = old === undefined ? [...conditions, entered] : conditions.map((one) => (one === old ? entered : one));
  pod["status"] = { ...objectOf(pod["status"]), conditions: next };
}

function conditionsOf(pod: KubeObject): JsonObject[] {
  return objectsOf(objectOf(pod["status"])["conditions"]);
}

import type { JsonObject } from "../../../api/json.ts";
import { childOf, fillIn, fillInText } from "../../../api/schema/spec-fields.ts";

export function defaultDeployment(deployment: JsonObject): void {
  const spec = childOf(deployment, "spec");
  fillIn(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 });
  const strategy = childOf(spec, "strategy");
  fillInText(strategy, { type: "RollingUpdate" });
  if (strategy["type"] === "RollingUpdate") {
    fillIn(childOf(strategy, "rollingUpdate"), { maxUnavailable: "25%", maxSurge: "25%" });
  }
}

export function defaultReplicaSet(set: JsonObject): void {
  fillIn(childOf(set, "spec"), { replicas: 1 });
}

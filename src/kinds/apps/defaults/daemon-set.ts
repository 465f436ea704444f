import type { JsonObject } from "../../../api/json.ts";
import { childOf, fillIn, fillInText } from "../../../api/schema/spec-fields.ts";

export function defaultDaemonSet(set: JsonObject): void {
  const spec = childOf(set, "spec");
  fillIn(spec, { revisionHistoryLimit: 10 });
  const strategy = childOf(spec, "updateStrategy");
  fillInText(strategy, { type: "RollingUpdate" });
  if (strategy["type"] === "RollingUpdate") {
    fillIn(childOf(strategy, "rollingUpdate"), { maxUnavailable: 1, maxSurge: 0 });
  }
}

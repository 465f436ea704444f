import type { JsonObject } from "../../../api/json.ts";
import { childOf, fillIn, fillInText } from "../../../api/schema/spec-fields.ts";

/** Counts the templates that there have been: a field of the first versions, which lives on for their clients. */
export const templateGenerationAnnotation = "deprecated.daemonset.template.generation";

export function defaultDaemonSet(set: JsonObject): void {
  fillIn(childOf(childOf(set, "metadata"), "annotations"), { [templateGenerationAnnotation]: "0" });
  const spec = childOf(set, "spec");
  fillIn(spec, { revisionHistoryLimit: 10 });
  const strategy = childOf(spec, "updateStrategy");
  fillInText(strategy, { type: "RollingUpdate" });
  if (strategy["type"] === "RollingUpdate") {
    fillIn(childOf(strategy, "rollingUpdate"), { maxUnavailable: 1, maxSurge: 0 });
  }
}

import { cloneJson, isJsonObject, type JsonObject } from "../../../api/json.ts";
import { childOf, fillIn, labelAsTemplate, templateLabels } from "../../../api/schema/spec-fields.ts";

/** The labels of the template say what the controller selects, and what it is labelled with. */
export function defaultReplicationController(controller: JsonObject): void {
  const spec = childOf(controller, "spec");
  fillIn(spec, { replicas: 1 });
  const labels = templateLabels(spec);
  const selector = spec["selector"];
  const isUnset = !isJsonObject(selector) || Object.keys(selector).length === 0;
  if (labels !== undefined && isUnset) spec["selector"] = cloneJson(labels);
  labelAsTemplate(controller, labels);
}

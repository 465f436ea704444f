import { isJsonObject, type JsonObject } from "../../../api/json.ts";
import { objectsOf } from "../../../api/json-reading.ts";
import { childOf, fillIn, fillInText } from "../../../api/schema/spec-fields.ts";

export function defaultStatefulSet(set: JsonObject): void {
  const spec = childOf(set, "spec");
  fillInText(spec, { podManagementPolicy: "OrderedReady" });
  fillIn(spec, { replicas: 1, revisionHistoryLimit: 10 });
  defaultUpdateStrategy(childOf(spec, "updateStrategy"));
  fillInText(childOf(spec, "persistentVolumeClaimRetentionPolicy"), { whenDeleted: "Retain", whenScaled: "Retain" });
  // Templates of claims are whole objects, and say so.
  for (const claim of objectsOf(spec["volumeClaimTemplates"])) {
    claim["apiVersion"] = "v1";
    claim["kind"] = "PersistentVolumeClaim";
  }
}

function defaultUpdateStrategy(strategy: JsonObject): void {
  if (!strategy["type"]) {
    strategy["type"] = "RollingUpdate";
    childOf(strategy, "rollingUpdate");
  }
  const rolling = strategy["rollingUpdate"];
  if (strategy["type"] === "RollingUpdate" && isJsonObject(rolling)) fillIn(rolling, { partition: 0 });
}

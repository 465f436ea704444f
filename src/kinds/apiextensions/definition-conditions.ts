import type { JsonObject } from "../../api/json.ts";
import { objectOf, objectsOf } from "../../api/json-reading.ts";
import type { KubeObject } from "../../api/object-meta.ts";

/** Reports whether a status has a condition that is true. */
export function isConditionTrue(status: JsonObject, type: string): boolean {
  return objectsOf(status["conditions"]).some((one) => one["type"] === type && one["status"] === "True");
}

/** Reports whether objects of a definition can exist. */
export function isEstablished(definition: KubeObject | undefined): boolean {
  return isConditionTrue(objectOf(definition?.["status"]), "Established");
}

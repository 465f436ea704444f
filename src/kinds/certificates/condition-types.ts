import { objectsOf, textOf } from "../../api/json-reading.ts";
import type { JsonObject } from "../../api/json.ts";

export function conditionTypes(status: JsonObject): Set<string> {
  return new Set(objectsOf(status["conditions"]).map((condition) => textOf(condition["type"])));
}

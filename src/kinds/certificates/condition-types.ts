import { structsIn, textIn } from "../../api/codec/table/reading.ts";
import type { JsonObject } from "../../api/json.ts";

export function conditionTypes(status: JsonObject): Set<string> {
  return new Set(structsIn(status, "conditions").map((condition) => textIn(condition, "type")));
}

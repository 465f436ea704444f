import { cloneJson, type JsonObject } from "../../api/json.ts";
import type { Dialect } from "./document-type.ts";

export function publishedSchema(schema: JsonObject, _dialect: Dialect): JsonObject {
  return cloneJson(schema);
}

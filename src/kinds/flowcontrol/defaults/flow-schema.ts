import { isJsonObject, type JsonObject } from "../../../api/json.ts";

const precedence = 1000;

export function defaultFlowSchema(schema: JsonObject): void {
  const spec = schema["spec"];
  if (isJsonObject(spec)) spec["matchingPrecedence"] ||= precedence;
}

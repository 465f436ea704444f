import { emptyJsonObject, isJsonObject, type JsonObject } from "../../../api/json.ts";

export function defaultNamespace(namespace: JsonObject): void {
  const status = isJsonObject(namespace["status"]) ? namespace["status"] : emptyJsonObject();
  status["phase"] ??= "Active";
  namespace["status"] = status;
}

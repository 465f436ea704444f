import { emptyJsonObject, isJsonObject, type JsonObject } from "../../../api/json.ts";
import { childOf } from "../../../api/schema/spec-fields.ts";
import { namespaceNameLabel } from "../../../api/vendor.ts";

export function defaultNamespace(namespace: JsonObject): void {
  const status = isJsonObject(namespace["status"]) ? namespace["status"] : emptyJsonObject();
  status["phase"] ??= "Active";
  namespace["status"] = status;
  const name = childOf(namespace, "metadata")["name"];
  // A generated name is not known yet: defaults are applied again once it is.
  if (typeof name === "string" && name !== "") {
    childOf(childOf(namespace, "metadata"), "labels")[namespaceNameLabel] = name;
  }
}

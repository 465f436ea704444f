import { emptyJsonObject, isJsonObject, type JsonObject } from "../../../api/json.ts";
import { childOf } from "../../../api/schema/spec-fields.ts";
import { namespaceNameLabel } from "../../../api/vendor.ts";

/** A generated name is not known yet: defaults are applied again once it is. */
export function defaultNamespace(namespace: JsonObject): void {
  const metadata = childOf(namespace, "metadata");
  const name = metadata["name"];
  if (typeof name === "string" && name !== "") childOf(metadata, "labels")[namespaceNameLabel] = name;
  const status = isJsonObject(namespace["status"]) ? namespace["status"] : emptyJsonObject();
  status["phase"] ??= "Active";
  namespace["status"] = status;
}

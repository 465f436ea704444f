import { emptyJsonObject, isJsonObject, type JsonObject } from "../../../api/json.ts";
import { childOf } from "../../../api/schema/spec-fields.ts";
import { namespaceNameLabel } from "../../../api/vendor.ts";

/** A namespace without a name gets its label with the name that is generated for it. */
export function defaultNamespace(namespace: JsonObject): void {
  const metadata = childOf(namespace, "metadata");
  const name = metadata["name"];
  if (typeof name === "string" && name !== "") childOf(metadata, "labels")[namespaceNameLabel] = name;
  const status = isJsonObject(namespace["status"]) ? namespace["status"] : emptyJsonObject();
  status["phase"] ??= "Active";
  namespace["status"] = status;
}

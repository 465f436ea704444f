import { emptyJsonObject, isJsonObject, type JsonObject } from "../../../api/json.ts";
import { objectsOf } from "../../../api/json-reading.ts";

export function defaultCustomResourceDefinition(definition: JsonObject): void {
  const spec = definition["spec"];
  if (!isJsonObject(spec)) return;
  if (isJsonObject(spec["names"])) defaultNames(spec["names"]);
  spec["conversion"] ??= { strategy: "None" };
  const storage = objectsOf(spec["versions"]).find((version) => version["storage"] === true)?.["name"];
  const status = isJsonObject(definition["status"]) ? definition["status"] : emptyJsonObject();
  const stored = status["storedVersions"];
  if (storage === undefined || (Array.isArray(stored) && stored.length > 0)) return;
  status["storedVersions"] = [storage];
  definition["status"] = status;
}

function defaultNames(names: JsonObject): void {
  const kind = names["kind"];
  if (typeof kind !== "string" || kind === "") return;
  names["singular"] ||= kind.toLowerCase();
  names["listKind"] ||= `${kind}List`;
}

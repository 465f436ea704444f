import { cloneJson, emptyJsonObject, isJsonObject, type JsonObject, type JsonValue } from "../json.ts";

/** The object in this field, which is made when there is none. */
export function childOf(owner: JsonObject, name: string): JsonObject {
  const present = owner[name];
  if (isJsonObject(present)) return present;
  const child = emptyJsonObject();
  owner[name] = child;
  return child;
}

/** Fills in the fields that are not there. */
export function fillIn(owner: JsonObject, values: Readonly<Record<string, JsonValue>>): void {
  for (const [name, value] of Object.entries(values)) {
    if (owner[name] === undefined || owner[name] === null) owner[name] = cloneJson(value);
  }
}

/** Fills in the fields that are absent or empty: of those, empty text means nothing. */
export function fillInText(owner: JsonObject, values: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(values)) owner[name] ||= value;
}

/** Labels of the template in the spec; undefined when there are none. */
export function templateLabels(spec: JsonObject): JsonObject | undefined {
  const template = spec["template"];
  const metadata = isJsonObject(template) ? template["metadata"] : undefined;
  const labels = isJsonObject(metadata) ? metadata["labels"] : undefined;
  return isJsonObject(labels) && Object.keys(labels).length > 0 ? labels : undefined;
}

/** An object that has no labels of its own gets those of its template. */
export function labelAsTemplate(object: JsonObject, labels: JsonObject | undefined): void {
  const metadata = childOf(object, "metadata");
  const own = metadata["labels"];
  const isUnlabelled = !isJsonObject(own) || Object.keys(own).length === 0;
  if (labels !== undefined && isUnlabelled) metadata["labels"] = cloneJson(labels);
}

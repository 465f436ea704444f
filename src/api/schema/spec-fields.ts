import { cloneJson, emptyJsonObject, isJsonObject, type JsonObject, type JsonValue } from "../json.ts";

/** Returns the object in this field, creating it if it is absent. */
export function childOf(owner: JsonObject, name: string): JsonObject {
  const present = owner[name];
  if (isJsonObject(present)) return present;
  const child = emptyJsonObject();
  owner[name] = child;
  return child;
}

/** Sets the fields that are absent. */
export function fillIn(owner: JsonObject, values: Readonly<Record<string, JsonValue>>): void {
  for (const [name, value] of Object.entries(values)) {
    if (owner[name] === undefined || owner[name] === null) owner[name] = cloneJson(value);
  }
}

/** Sets the fields that are absent or empty, where empty text has no meaning. */
export function fillInText(owner: JsonObject, values: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(values)) owner[name] ||= value;
}

/** Returns the labels of the template in the spec; undefined if there are none. */
export function templateLabels(spec: JsonObject): JsonObject | undefined {
  const template = spec["template"];
  const metadata = isJsonObject(template) ? template["metadata"] : undefined;
  const labels = isJsonObject(metadata) ? metadata["labels"] : undefined;
  return isJsonObject(labels) && Object.keys(labels).length > 0 ? labels : undefined;
}

/** Copies the labels of its template to an object without labels. */
export function labelAsTemplate(object: JsonObject, labels: JsonObject | undefined): void {
  const metadata = childOf(object, "metadata");
  const own = metadata["labels"];
  const isUnlabelled = !isJsonObject(own) || Object.keys(own).length === 0;
  if (labels !== undefined && isUnlabelled) metadata["labels"] = cloneJson(labels);
}

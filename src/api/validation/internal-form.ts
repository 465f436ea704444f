import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { objectOf } from "../json-reading.ts";
import { givenEmptyFields } from "../schema/given-empty.ts";
import internalTypes from "../scheme/generated/internal-types.json";

/** Type of the structs that upstream keeps in a separate internal form. */
export type InternalType = keyof typeof internalTypes;

/** Limit of the nesting of structs, which bounds the recursion. */
const depthMax = 32;

/**
 * Returns a struct as upstream shows it in errors. Its internal types have no JSON names, so all fields appear under
 * their Go names.
 * @param value the struct as JSON has it, or undefined for none
 */
export function internalForm(value: unknown, type: InternalType): JsonValue {
  return isJsonObject(value) ? structForm(value, type, {}, 0) : null;
}

/** Returns the same for a list of structs. */
export function internalForms(values: readonly unknown[] | undefined, type: InternalType): JsonValue {
  return values?.map((value) => internalForm(value, type)) ?? null;
}

/** @param owner the struct that contains this one: some fields moved between the two */
function structForm(value: JsonObject, type: string, owner: JsonObject, depth: number): JsonObject {
  const form: JsonObject = {};
  for (const text of fieldsOf(type)) {
    if (text === "+metadata") {
      Object.assign(form, metadataForm(value["metadata"]));
      continue;
    }
    const field = parseField(text);
    const source = field.isOwners ? owner : value;
    form[field.name] = fieldForm(givenValue(source, field), field.type, value, depth);
  }
  return form;
}

/** Returns the value of a field; an empty list or map where the request gave one. */
function givenValue(source: JsonObject, { key, type }: { key: string; type: string }): JsonValue | undefined {
  const value = source[keyIn(Object.keys(source), key)];
  const isList = type.startsWith("[]");
  if (value !== undefined || !(isList || type.startsWith("{}"))) return value;
  const empty = [...givenEmptyFields(source)];
  if (!empty.includes(keyIn(empty, key))) return undefined;
  return isList ? [] : {};
}

/** Converts metadata: it has one form only, but Go writes the keys of labels and annotations in order. */
function metadataForm(metadata: JsonValue | undefined): JsonObject {
  if (!isJsonObject(metadata)) return {};
  const fields = Object.entries(metadata).map(([name, value]) => [
    name,
    isJsonObject(value) ? mapForm(value, "", metadata, 0) : value,
  ]);
  return Object.fromEntries(fields) as JsonObject;
}

function fieldForm(value: JsonValue | undefined, type: string, owner: JsonObject, depth: number): JsonValue {
  if (depth >= depthMax) throw new Error(`an internal form is nested more than ${depthMax} times`);
  if (type.startsWith("*")) return pointerForm(value, type.slice(1), owner, depth);
  if (type.startsWith("[]")) {
    return Array.isArray(value) ? value.map((item) => itemForm(item, type.slice(2), owner, depth)) : null;
  }
  if (type.startsWith("{}")) return mapForm(value, type.slice(2), owner, depth);
  if (Object.hasOwn(internalTypes, type)) return structForm(objectOf(value), type, owner, depth + 1);
  return value ?? zeroOf(type);
}

function pointerForm(value: JsonValue | undefined, type: string, owner: JsonObject, depth: number): JsonValue {
  // The host's namespaces are next to the security context in JSON and inside it upstream, so it is always present.
  if (isJsonObject(value) || type === "core/v1.PodSecurityContext") return itemForm(value ?? {}, type, owner, depth);
  return value ?? null;
}

function itemForm(value: JsonValue, type: string, owner: JsonObject, depth: number): JsonValue {
  return type === "" ? value : fieldForm(value, type, owner, depth + 1);
}

/** Converts a map; Go writes its keys in order. */
function mapForm(value: JsonValue | undefined, type: string, owner: JsonObject, depth: number): JsonValue {
  if (!isJsonObject(value)) return null;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, itemForm(item ?? null, type, owner, depth)]));
}

function zeroOf(type: string): JsonValue {
  switch (type) {
    case "":
      return "";
    case "bool":
      return false;
    case "int":
    case "IntOrString":
      return 0;
    case "Quantity":
      return "0";
    case "meta.LabelSelector":
      return {};
    default:
      return null;
  }
}

function fieldsOf(type: string): string[] {
  const fields: Readonly<Record<string, string>> = internalTypes;
  const text = fields[type] ?? "";
  return text === "" ? [] : text.split(" ");
}

/** Parses `^Name=key:type`, as scripts/README.md describes it. */
function parseField(text: string): { name: string; key: string; type: string; isOwners: boolean } {
  const [head = "", type = ""] = text.split(/:(.*)/s);
  const [marked = "", key] = head.split("=");
  const isOwners = marked.startsWith("^");
  const name = isOwners ? marked.slice(1) : marked;
  return { name, key: key ?? name, type, isOwners };
}

/** Returns the JSON key of a Go name. Unless the facts say otherwise, they differ only in case. */
function keyIn(keys: readonly string[], name: string): string {
  const lower = name.toLowerCase();
  return keys.find((key) => key.toLowerCase() === lower) ?? name;
}

import { isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import type { ObjectForm } from "../../api/scheme/object-form.ts";
import { formType } from "../../apply/form-type.ts";
import { mergeValues } from "../../apply/merge-values.ts";
import { typeError } from "../../apply/type-errors.ts";
import { kindOf, type ValueType } from "../../apply/value-type.ts";
import { MutationError } from "./mutation-error.ts";

/**
 * Puts a configuration over a document as server-side apply does, without owners: nothing is ever removed.
 * @throws MutationError
 */
export function applyConfiguration(document: JsonObject, configuration: JsonObject, form: ObjectForm): JsonObject {
  const type = formType(form);
  const problem = typeError(configuration, type, { allowsDuplicates: false });
  if (problem !== undefined) {
    throw refusal(`failed to convert patch object to typed object: ${problem}`);
  }
  const atomic: string[] = [];
  addAtomicPaths(configuration, type, "", atomic);
  if (atomic.length > 0) {
    throw refusal(`invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomic.join(", ")}`);
  }
  return mergeValues(document, configuration, type) as JsonObject;
}

function refusal(why: string): MutationError {
  return new MutationError(`error applying patch: ${why}`);
}

/** Adds the parts that are owned as a whole, with those around them first: they would lose what is not mentioned. */
function addAtomicPaths(value: JsonValue, type: ValueType, path: string, atomic: string[]): void {
  if (isJsonObject(value)) {
    if (type.map === undefined || kindOf(type, value) !== "map") return;
    if (type.map.atomic) atomic.push(path);
    for (const name in value) {
      const field = type.map.fields.get(name);
      if (field !== undefined) addAtomicPaths(value[name] as JsonValue, field.type, `${path}.${name}`, atomic);
    }
  } else if (Array.isArray(value)) {
    const { list } = type;
    if (list === undefined || kindOf(type, value) !== "list") return;
    if (list.atomic) atomic.push(path);
    value.forEach((item, at) => void addAtomicPaths(item, list.items, `${path}[${at}]`, atomic));
  }
}

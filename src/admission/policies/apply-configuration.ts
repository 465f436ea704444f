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
  const atomic = atomicPaths(configuration, type, "");
  if (atomic.length > 0) {
    throw refusal(`invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomic.join(", ")}`);
  }
  return mergeValues(document, configuration, type) as JsonObject;
}

function refusal(why: string): MutationError {
  return new MutationError(`error applying patch: ${why}`);
}

/** A part that is owned as a whole would lose what the configuration does not mention. */
function atomicPaths(value: JsonValue, type: ValueType, path: string): string[] {
  const kind = kindOf(type, value);
  if (kind === "map" && isJsonObject(value) && type.map !== undefined) {
    const { atomic, fields } = type.map;
    const below = Object.entries(value).flatMap(([name, item]) => {
      const field = fields.get(name);
      return field === undefined ? [] : atomicPaths(item, field.type, `${path}.${name}`);
    });
    return atomic ? [path, ...below] : below;
  }
  if (kind === "list" && Array.isArray(value) && type.list !== undefined) {
    const { atomic, items } = type.list;
    const below = value.flatMap((item, at) => atomicPaths(item, items, `${path}[${at}]`));
    return atomic ? [path, ...below] : below;
  }
  return [];
}

import { goInterfaceType, goText } from "../../api/go-text.ts";
import {
  cloneJson,
  emptyJsonObject,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  shallowCopy,
} from "../../api/json.ts";
import type { Field, Schema, StructSchema } from "../../api/schema/schema.ts";
import { status } from "../../api/status.ts";
import { atOnce } from "../../process/sliced.ts";
import { depthOf, documentDepthMax } from "./document-depth.ts";
import { orderAsAsked, patchOrderMatches } from "./element-order.ts";
import { elementKey, mergeKeyValue } from "./merge-key.ts";

const directive = "$patch";
const retainKeysDirective = "$retainKeys";
const deleteFromListDirective = "$deleteFromPrimitiveList";
const elementOrderDirective = "$setElementOrder";

export interface MergedPatch {
  /** Shares with the document the parts that the patch does not touch. */
  readonly merged: JsonObject;
  /** The patch after the merge, which removes some directives, and nulls in values that replace nothing. */
  readonly rest: JsonObject;
}

/**
 * Applies a patch that merges lists by the merge keys of the types, with the directives `$patch`, `$retainKeys`,
 * `$deleteFromPrimitiveList/<field>` and `$setElementOrder/<field>`. The inputs are unchanged. A value that replaces
 * another as a whole keeps its nulls and directives. Throws the errors of upstream: mostly 400 for the form of a
 * directive, and 500 without a reason for its value.
 */
export function applyStrategicMergePatch(document: JsonObject, patch: JsonObject, schema: StructSchema): JsonObject {
  return atOnce(applyStrategicMergePatchInSteps(document, patch, schema)).merged;
}

/** Does the same, and yields between its passes over the patch. */
export function* applyStrategicMergePatchInSteps(
  document: JsonObject,
  patch: JsonObject,
  schema: StructSchema,
): Generator<void, MergedPatch> {
  if (depthOf(patch, documentDepthMax) > documentDepthMax) {
    throw status.badRequest("error decoding patch: exceeded max depth");
  }
  const rest = cloneJson(patch);
  yield;
  return { merged: mergeObject(document, rest, schema), rest };
}

/** The patch is ours to change. */
function mergeObject(document: JsonObject, patch: JsonObject, schema: Schema | undefined): JsonObject {
  const kind = patch[directive];
  if (kind !== undefined) {
    if (kind === "delete") return emptyJsonObject();
    if (kind !== "replace") throw unknownDirective(kind, patch);
    delete patch[directive];
    return patch;
  }
  const original = shallowCopy(document);
  retainKeys(original, patch);
  orderElements(original, patch, schema);
  for (const key of Object.keys(patch)) {
    const value = patch[key] as JsonValue;
    const deletes = key.startsWith(deleteFromListDirective);
    const name = deletes ? fieldOf(key, deleteFromListDirective, "primitive list") : key;
    if (value === null) delete original[name];
    else mergeField({ original, name, value, schema, deletes });
  }
  return original;
}

interface FieldMerge {
  readonly original: JsonObject;
  readonly name: string;
  readonly value: JsonValue;
  readonly schema: Schema | undefined;
  /** The value lists what to delete. */
  readonly deletes: boolean;
}

function mergeField({ original, name, value, schema, deletes }: FieldMerge): void {
  const current = original[name];
  if (!isMergeable(current, value)) {
    if (!deletes || (current !== undefined && goInterfaceType(current) === goInterfaceType(value))) {
      setCleaned(original, name, value);
    }
    return;
  }
  if (schema?.kind === "map") {
    throw status.unconverted("merging an object in json but data type is not struct, instead is: map");
  }
  const place = placeOf(schema, name);
  if (isJsonObject(value)) {
    original[name] = place.replaced ? value : mergeObject(current as JsonObject, value, place.schema);
  } else {
    const merges = place.mergedList || deletes;
    original[name] = merges ? mergeList(current as JsonValue[], value as JsonValue[], place, deletes) : value;
  }
}

/** Reports whether both are objects, or both are lists: then upstream asks the type how it merges them. */
function isMergeable(current: JsonValue | undefined, value: JsonValue): boolean {
  return (isJsonObject(current) && isJsonObject(value)) || (Array.isArray(current) && Array.isArray(value));
}

/** Returns the field that a directive names after a slash. */
function fieldOf(key: string, prefix: string, what: string): string {
  if (!key.startsWith(`${prefix}/`)) throw status.badRequest(`invalid patch format of ${what}`);
  return key.slice(prefix.length + 1);
}

interface Place {
  readonly schema: Schema | undefined;
  /** The value is replaced as a whole. */
  readonly replaced: boolean;
  /** The list is merged: by its key, or as a set of scalars when it has none. */
  readonly mergedList: boolean;
  readonly mergeKey: string | undefined;
}

function placeOf(schema: Schema | undefined, key: string): Place {
  if (schema?.kind === "struct") return fieldPlace(schema.fields.get(key));
  return {
    schema: schema?.kind === "map" ? schema.values : undefined,
    replaced: false,
    mergedList: false,
    mergeKey: undefined,
  };
}

function fieldPlace(field: Field | undefined): Place {
  return {
    schema: field?.schema,
    replaced: field?.patchStrategy.includes("replace") ?? false,
    mergedList: field?.patchStrategy.includes("merge") ?? false,
    mergeKey: field?.patchMergeKey,
  };
}

/** `$retainKeys`: the object keeps only the listed keys, which must cover everything that the patch sets. */
function retainKeys(original: JsonObject, patch: JsonObject): void {
  const listed = patch[retainKeysDirective];
  if (listed === undefined) return;
  delete patch[retainKeysDirective];
  if (!Array.isArray(listed)) throw status.badRequest("invalid patch format of retainKeys");
  const retained = new Set(listed);
  for (const key of Object.keys(patch)) {
    const ignored =
      patch[key] === null || key.startsWith(deleteFromListDirective) || key.startsWith(elementOrderDirective);
    if (!ignored && !retained.has(key)) throw status.badRequest("invalid patch format of retainKeys");
  }
  for (const key of Object.keys(original)) if (!retained.has(key)) delete original[key];
}

/** `$setElementOrder/<field>`: merges that list and then puts it into the asked order. */
function orderElements(original: JsonObject, patch: JsonObject, schema: Schema | undefined): void {
  for (const key of Object.keys(patch)) {
    if (!key.startsWith(elementOrderDirective)) continue;
    const order = patch[key];
    delete patch[key];
    if (!Array.isArray(order)) throw notAList(order);
    orderField(original, patch, fieldOf(key, elementOrderDirective, "setElementOrder list"), order, schema);
  }
}

function orderField(
  original: JsonObject,
  patch: JsonObject,
  key: string,
  order: JsonValue[],
  schema: Schema | undefined,
): void {
  const current = original[key];
  const patched = patch[key];
  if (current === undefined && patched === undefined) return;
  if (current !== undefined && !Array.isArray(current)) throw notAList(current);
  if (patched !== undefined && !Array.isArray(patched)) throw notAList(patched);
  const place = placeOf(schema, key);
  const isOrdered = patched === undefined || patched.length === 0 || order.length === 0;
  const kept = isOrdered || place.mergeKey === undefined ? patched : withoutDeletions(patched);
  if (!isOrdered && !patchOrderMatches(kept ?? [], order, place.mergeKey)) {
    throw status.unconverted(
      `The order in patch list:\n${goText(patched)}\n doesn't match $setElementOrder list:\n${goText(order)}\n`,
    );
  }
  const merged = mergeForOrder(current, patched, place);
  if (place.mergeKey !== undefined) requireMergeKeys(merged, place.mergeKey);
  original[key] = orderAsAsked({ merged, order, serverOrder: current ?? [], mergeKey: place.mergeKey });
  delete patch[key];
}

function mergeForOrder(current: JsonValue[] | undefined, patched: JsonValue[] | undefined, place: Place): JsonValue[] {
  if (patched === undefined) return current ?? [];
  if (current === undefined) return listWithoutDirectives(patched);
  return place.mergedList ? mergeList(current, patched, place, false) : patched;
}

function withoutDeletions(list: readonly JsonValue[]): JsonValue[] {
  return list.filter((item) => !isJsonObject(item) || item[directive] !== "delete");
}

function mergeList(original: JsonValue[], patch: JsonValue[], place: Place, deletes: boolean): JsonValue[] {
  if (original.length === 0 && patch.length === 0) return original;
  if (elementsAreObjects(original, patch)) {
    return mergeObjectList(original as JsonObject[], patch as JsonObject[], place);
  }
  return deletes ? withoutScalars(original, patch) : mergeScalarList(original, patch);
}

function withoutScalars(original: JsonValue[], deleted: readonly JsonValue[]): JsonValue[] {
  const keys = new Set(deleted.map(elementKey));
  return original.filter((item) => !keys.has(elementKey(item)));
}

function elementsAreObjects(original: JsonValue[], patch: JsonValue[]): boolean {
  const lists = [original, patch];
  const types = new Set(lists.flat().map(elementType));
  if (types.has("list") && elementType([...original, ...patch][0] as JsonValue) === "list") {
    throw status.patchNotApplicable();
  }
  if (types.size > 1) throw status.unconverted(`list element types are not identical: ${goText(lists)}`);
  return types.has("object");
}

function elementType(value: JsonValue): string {
  if (Array.isArray(value)) return "list";
  if (value === null) return "nil";
  if (typeof value === "number") return Number.isInteger(value) ? "bigint" : "number";
  return typeof value;
}

function mergeScalarList(original: JsonValue[], patch: JsonValue[]): JsonValue[] {
  const merged = [...new Map([...original, ...patch].map((item) => [elementKey(item), item])).values()];
  return orderAsAsked({ merged, order: patch, serverOrder: original, mergeKey: undefined });
}

function mergeObjectList(original: JsonObject[], patch: JsonObject[], place: Place): JsonValue[] {
  const { mergeKey } = place;
  if (mergeKey === undefined) throw status.unconverted("cannot merge lists without merge key for struct");
  const { deleted, items, replace } = splitDirectives(patch, mergeKey);
  if (replace) {
    requireMergeKeys(items, mergeKey);
    return items;
  }
  const merged = deleted.size === 0 ? [...original] : original.filter((item) => !deleted.has(keyOf(item, mergeKey)));
  const serverOrder = [...merged];
  mergeItems(merged, items, mergeKey, place.schema?.kind === "list" ? place.schema.items : undefined);
  requireMergeKeys(merged, mergeKey);
  return orderAsAsked({ merged, order: items, serverOrder, mergeKey });
}

function requireMergeKeys(list: readonly JsonValue[], mergeKey: string): void {
  for (const item of list) {
    if (isJsonObject(item) && keyOf(item, mergeKey) === undefined) throw noMergeKey(item, mergeKey);
  }
}

function mergeItems(merged: JsonObject[], items: JsonObject[], mergeKey: string, schema: Schema | undefined): void {
  const places = new Map<string | undefined, number>();
  for (const [at, item] of merged.entries()) {
    const key = keyOf(item, mergeKey);
    if (!places.has(key)) places.set(key, at);
  }
  for (const item of items) {
    const key = keyOf(item, mergeKey);
    if (key === undefined) throw noMergeKey(item, mergeKey);
    const at = places.get(key);
    if (at === undefined) {
      places.set(key, merged.length);
      merged.push(item);
    } else {
      merged[at] = mergeObject(merged[at] as JsonObject, item, schema);
    }
  }
}

function keyOf(item: JsonObject, mergeKey: string): string | undefined {
  const value = mergeKeyValue(item, mergeKey);
  return value === undefined ? undefined : elementKey(value);
}

/** Takes the items that are directives out of a patch list. */
function splitDirectives(patch: readonly JsonObject[], mergeKey: string) {
  const deleted = new Set<string | undefined>();
  const items: JsonObject[] = [];
  let replace = false;
  for (const item of patch) {
    const kind = item[directive];
    if (kind === "delete") {
      const key = keyOf(item, mergeKey);
      if (key === undefined) throw noMergeKey(item, mergeKey);
      deleted.add(key);
    } else if (kind === "replace") {
      replace = true;
    } else if (kind === undefined) {
      items.push(item);
    } else if (kind === "merge") {
      throw status.unconverted("merging lists cannot yet be specified in the patch");
    } else {
      throw unknownDirective(kind, item);
    }
  }
  return { deleted, items, replace };
}

/** Sets a value where there was none that it could be merged with. */
function setCleaned(target: JsonObject, key: string, value: JsonValue): void {
  dropNulls(value);
  const cleaned = withoutDirectives(value);
  if (cleaned === undefined) delete target[key];
  else target[key] = cleaned;
}

/** Removes the fields that are null, from the value and all objects in it. */
function dropNulls(value: JsonValue): void {
  if (Array.isArray(value)) value.forEach(dropNulls);
  if (!isJsonObject(value)) return;
  for (const [key, part] of Object.entries(value)) {
    if (part === null) delete value[key];
    else dropNulls(part);
  }
}

/** Returns undefined for a value with a `$patch`: there is nothing that it could apply to. Other directives stay. */
function withoutDirectives(value: JsonValue): JsonValue | undefined {
  if (Array.isArray(value)) return listWithoutDirectives(value);
  if (!isJsonObject(value)) return value;
  if (Object.hasOwn(value, directive)) return undefined;
  for (const [key, part] of Object.entries(value)) {
    const cleaned = withoutDirectives(part);
    if (cleaned === undefined) delete value[key];
    else value[key] = cleaned;
  }
  return value;
}

function listWithoutDirectives(list: readonly JsonValue[]): JsonValue[] {
  const cleaned: JsonValue[] = [];
  for (const item of list) {
    const value = withoutDirectives(item);
    if (value !== undefined) cleaned.push(value);
  }
  return cleaned;
}

function unknownDirective(kind: JsonValue, patch: JsonObject) {
  return status.unconverted(`unknown patch type: ${goText(kind)} in map: ${goText(patch)}`);
}

function noMergeKey(item: JsonObject, mergeKey: string) {
  return status.unconverted(`map: ${goText(item)} does not contain declared merge key: ${mergeKey}`);
}

function notAList(value: JsonValue | undefined) {
  return status.unconverted(`expected a []interface {}, but received a ${goInterfaceType(value ?? null)}`);
}

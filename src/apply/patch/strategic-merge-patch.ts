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
const deleteFromListPrefix = "$deleteFromPrimitiveList/";
const elementOrderPrefix = "$setElementOrder/";

/**
 * Applies a patch that merges lists by the merge keys of the types, with the directives `$patch`, `$retainKeys`,
 * `$deleteFromPrimitiveList/<field>` and `$setElementOrder/<field>`. The inputs are unchanged; the result shares with
 * the document the parts that the patch does not touch. Throws the errors of upstream: mostly 400 for the form of a
 * directive, and 500 without a reason for its value.
 */
export function applyStrategicMergePatch(document: JsonObject, patch: JsonObject, schema: StructSchema): JsonObject {
  return atOnce(applyStrategicMergePatchInSteps(document, patch, schema));
}

/** Does the same, and yields between its passes over the patch. */
export function* applyStrategicMergePatchInSteps(
  document: JsonObject,
  patch: JsonObject,
  schema: StructSchema,
): Generator<void, JsonObject> {
  if (depthOf(patch, documentDepthMax) > documentDepthMax) {
    throw status.badRequest("error decoding patch: exceeded max depth");
  }
  const own = cloneJson(patch);
  yield;
  return mergeObject(document, own, schema);
}

/** The patch is ours to change. */
function mergeObject(document: JsonObject, patch: JsonObject, schema: Schema | undefined): JsonObject {
  const kind = patch[directive];
  if (kind !== undefined) {
    if (kind === "delete") return emptyJsonObject();
    if (kind === "replace") return withoutDirectives(patch);
    throw unknownDirective(kind, patch);
  }
  const original = shallowCopy(document);
  retainKeys(original, patch);
  orderElements(original, patch, schema);
  for (const key of Object.keys(patch)) {
    const value = patch[key] as JsonValue;
    if (key.startsWith(deleteFromListPrefix)) {
      deleteFromList(original, key.slice(deleteFromListPrefix.length), value, schema);
    } else {
      mergeField(original, key, value, schema);
    }
  }
  return original;
}

function mergeField(original: JsonObject, key: string, value: JsonValue, schema: Schema | undefined): void {
  if (value === null) {
    delete original[key];
    return;
  }
  if (typeof value !== "object") {
    original[key] = value;
    return;
  }
  const current = original[key];
  if (schema?.kind === "map" && isMergeable(current, value)) {
    throw status.unconverted("merging an object in json but data type is not struct, instead is: map");
  }
  const place = placeOf(schema, key);
  if (isJsonObject(current) && isJsonObject(value) && !place.replaced) {
    original[key] = mergeObject(current, value, place.schema);
  } else if (Array.isArray(current) && Array.isArray(value) && place.mergedList) {
    original[key] = mergeList(current, value, place);
  } else {
    setCleaned(original, key, value);
  }
}

/** Reports whether both are objects, or both are lists: then upstream asks the type how it merges them. */
function isMergeable(current: JsonValue | undefined, value: JsonValue): boolean {
  return (isJsonObject(current) && isJsonObject(value)) || (Array.isArray(current) && Array.isArray(value));
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
    const ignored = patch[key] === null || key.startsWith(deleteFromListPrefix) || key.startsWith(elementOrderPrefix);
    if (!ignored && !retained.has(key)) throw status.badRequest("invalid patch format of retainKeys");
  }
  for (const key of Object.keys(original)) if (!retained.has(key)) delete original[key];
}

/** `$setElementOrder/<field>`: merges that list and then puts it into the asked order. */
function orderElements(original: JsonObject, patch: JsonObject, schema: Schema | undefined): void {
  for (const key of Object.keys(patch)) {
    if (!key.startsWith(elementOrderPrefix)) continue;
    const order = patch[key];
    delete patch[key];
    orderField(original, patch, key.slice(elementOrderPrefix.length), order, schema);
  }
}

function orderField(
  original: JsonObject,
  patch: JsonObject,
  key: string,
  order: JsonValue | undefined,
  schema: Schema | undefined,
): void {
  const current = original[key];
  const patched = patch[key];
  if (!Array.isArray(order)) throw notAList(order);
  if (current === undefined && patched === undefined) return;
  if (current !== undefined && !Array.isArray(current)) throw notAList(current);
  if (patched !== undefined && !Array.isArray(patched)) throw notAList(patched);
  const place = placeOf(schema, key);
  const isOrdered = patched === undefined || patched.length === 0 || order.length === 0;
  if (!isOrdered && !patchOrderMatches(withoutDeletions(patched), order, place.mergeKey)) {
    throw status.unconverted(
      `The order in patch list:\n${goText(patched)}\n doesn't match $setElementOrder list:\n${goText(order)}\n`,
    );
  }
  const merged = mergeForOrder(current, patched, place);
  original[key] = orderAsAsked({ merged, order, serverOrder: current ?? [], mergeKey: place.mergeKey });
  delete patch[key];
}

function mergeForOrder(current: JsonValue[] | undefined, patched: JsonValue[] | undefined, place: Place): JsonValue[] {
  if (patched === undefined) return current ?? [];
  if (current === undefined || !place.mergedList) return listWithoutDirectives(patched);
  return mergeList(current, patched, place);
}

function withoutDeletions(list: readonly JsonValue[]): JsonValue[] {
  return list.filter((item) => !isJsonObject(item) || !Object.hasOwn(item, directive));
}

function deleteFromList(original: JsonObject, key: string, value: JsonValue, schema: Schema | undefined): void {
  if (!Array.isArray(value)) throw status.badRequest("invalid patch format of primitive list");
  const current = original[key];
  if (!Array.isArray(current) || !placeOf(schema, key).mergedList) return;
  const deleted = new Set(value.map(elementKey));
  original[key] = current.filter((item) => !deleted.has(elementKey(item)));
}

function mergeList(original: JsonValue[], patch: JsonValue[], place: Place): JsonValue[] {
  if (original.length === 0 && patch.length === 0) return original;
  return elementsAreObjects(original, patch)
    ? mergeObjectList(original as JsonObject[], patch as JsonObject[], place)
    : mergeScalarList(original, patch);
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
  if (mergeKey === undefined) throw status.unconverted("cannot merge lists without merge key");
  const { deleted, items, replace } = splitDirectives(patch, mergeKey);
  if (replace) return listWithoutDirectives(items);
  const merged = deleted.size === 0 ? [...original] : original.filter((item) => !deleted.has(keyOf(item, mergeKey)));
  const serverOrder = [...merged];
  mergeItems(merged, items, mergeKey, place.schema?.kind === "list" ? place.schema.items : undefined);
  return orderAsAsked({ merged, order: items, serverOrder, mergeKey });
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
      merged.push(withoutDirectives(item));
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

function setCleaned(target: JsonObject, key: string, value: JsonValue): void {
  const cleaned = cleanedValue(value);
  if (cleaned !== undefined) target[key] = cleaned;
}

/** Returns undefined for a value with a directive: there is nothing that it could apply to. */
function cleanedValue(value: JsonValue): JsonValue | undefined {
  if (Array.isArray(value)) return listWithoutDirectives(value);
  if (!isJsonObject(value)) return value;
  return Object.hasOwn(value, directive) ? undefined : withoutDirectives(value);
}

function listWithoutDirectives(list: readonly JsonValue[]): JsonValue[] {
  const cleaned: JsonValue[] = [];
  for (const item of list) {
    const value = cleanedValue(item);
    if (value !== undefined) cleaned.push(value);
  }
  return cleaned;
}

/** Returns the part of a patch that a new object keeps, without nulls and directives. */
function withoutDirectives(patch: JsonObject): JsonObject {
  const cleaned = emptyJsonObject();
  for (const key of Object.keys(patch)) {
    if (key === directive || key === retainKeysDirective) continue;
    if (key.startsWith(elementOrderPrefix) || key.startsWith(deleteFromListPrefix)) continue;
    const value = patch[key] as JsonValue;
    if (value !== null) setCleaned(cleaned, key, value);
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

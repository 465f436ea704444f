import { cloneJson, isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import { countValues, objectValuesMax } from "../../api/object-extent.ts";
import { StatusError, status } from "../../api/status.ts";
import { wrongDocument } from "./wrong-document.ts";
import { depthOf, documentDepthMax, jsonByteLength } from "./document-depth.ts";

export const jsonPatchOperationsMax = 10_000;
/** What all `copy` operations of one patch may copy together: the limit of a request body. */
export const jsonPatchCopyBytesMax = 3 * 1024 * 1024;
/** The same in values, which take time however short they are. */
const jsonPatchCopyValuesMax = 2 * objectValuesMax;
/** Values that the `move` operations of one patch may look at together, and what shifting list items is worth. */
const jsonPatchWorkMax = 1_000_000;
/** Items of a list shift this many times faster than values are looked at. */
const shiftedItemsPerValue = 256;

/**
 * RFC 6902 with the leniencies that clients know: negative array indices, a missing `value` is null, and `replace` adds
 * a member that an object does not have.
 * The inputs stay as they are and share nothing with the result. Throws 400 for a body that is no list of operations,
 * 413 for too many of them or too much work, and 422 when an operation does not apply.
 */
export function applyJsonPatch(document: JsonValue, patch: JsonValue): JsonValue {
  const operations = decodeOperations(patch);
  const state: PatchState = { root: cloneJson(document), copiedBytes: 0, copiedValues: 0, work: 0 };
  for (const operation of operations) applyOperation(state, operation);
  return state.root;
}

interface PatchState {
  root: JsonValue;
  copiedBytes: number;
  copiedValues: number;
  work: number;
}
type Container = JsonValue[] | JsonObject;

function decodeOperations(patch: JsonValue): readonly JsonObject[] {
  if (patch === null) return [];
  if (!Array.isArray(patch)) throw wrongDocument(patch, "[]handlers.jsonPatchOp");
  if (patch.length > jsonPatchOperationsMax) throw tooManyOperations(patch.length);
  return patch.map((operation) => {
    if (isJsonObject(operation)) return operation;
    throw wrongDocument(operation, "handlers.jsonPatchOp");
  });
}

function tooManyOperations(count: number): StatusError {
  return new StatusError({
    ...status.requestEntityTooLarge(0).status,
    message: `The allowed maximum operations in a JSON patch is ${jsonPatchOperationsMax}, got ${count}`,
  });
}

/** @throws StatusError 413 */
function charge(state: PatchState, work: number): void {
  state.work += work;
  if (state.work <= jsonPatchWorkMax) return;
  throw new StatusError({
    ...status.requestEntityTooLarge(0).status,
    message: `The allowed maximum of values that a JSON patch moves is ${jsonPatchWorkMax}`,
  });
}

function applyOperation(state: PatchState, operation: JsonObject): void {
  const path = textOf(operation, "path");
  switch (textOf(operation, "op")) {
    case "add":
      return add(state, path, newValue(path, operation));
    case "remove":
      return remove(state, path);
    case "replace":
      return replace(state, path, newValue(path, operation));
    case "move": {
      const from = textOf(operation, "from");
      const value = read(state.root, from) ?? null;
      charge(state, countValues(value, jsonPatchWorkMax));
      remove(state, from);
      return add(state, path, checkDepth(path, value));
    }
    case "copy":
      return add(state, path, copyOf(state, textOf(operation, "from"), path));
    case "test":
      return test(state, path, valueOf(operation));
    default:
      throw status.patchNotApplicable();
  }
}

function textOf(operation: JsonObject, field: string): string {
  const text = Object.hasOwn(operation, field) ? operation[field] : undefined;
  if (typeof text !== "string") throw status.patchNotApplicable();
  return text;
}

function valueOf(operation: JsonObject): JsonValue {
  return Object.hasOwn(operation, "value") ? (operation["value"] as JsonValue) : null;
}

function newValue(path: string, operation: JsonObject): JsonValue {
  return cloneJson(checkDepth(path, valueOf(operation)));
}

/** The slashes of a path are the depth at which the value will sit. */
function checkDepth(path: string, value: JsonValue): JsonValue {
  let depth = 0;
  for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) depth++;
  if (depth > documentDepthMax || depthOf(value, documentDepthMax - depth) > documentDepthMax - depth) {
    throw status.patchNotApplicable();
  }
  return value;
}

/** A member that is not there is copied as null. */
function copyOf(state: PatchState, from: string, path: string): JsonValue {
  const value = readLast(locate(state.root, from)) ?? null;
  state.copiedValues += countValues(value, jsonPatchCopyValuesMax);
  if (state.copiedValues > jsonPatchCopyValuesMax) throw status.patchNotApplicable();
  checkDepth(path, value);
  state.copiedBytes += jsonByteLength(value);
  if (state.copiedBytes > jsonPatchCopyBytesMax) throw status.patchNotApplicable();
  return cloneJson(value);
}

function add(state: PatchState, path: string, value: JsonValue): void {
  const { container, key } = locate(state.root, path);
  if (!Array.isArray(container)) {
    container[key] = value;
    return;
  }
  if (key === "-") {
    container.push(value);
    return;
  }
  const index = arrayIndex(key, container.length + 1);
  charge(state, (container.length - index) / shiftedItemsPerValue);
  if (index === container.length) container.push(value);
  else container.splice(index, 0, value);
}

function remove(state: PatchState, path: string): void {
  const { container, key } = locate(state.root, path);
  if (Array.isArray(container)) {
    const index = arrayIndex(key, container.length);
    charge(state, (container.length - index) / shiftedItemsPerValue);
    container.splice(index, 1);
    return;
  }
  if (!Object.hasOwn(container, key)) throw status.patchNotApplicable();
  delete container[key];
}

function replace(state: PatchState, path: string, value: JsonValue): void {
  if (path === "") {
    if (typeof value !== "object" || value === null) throw status.patchNotApplicable();
    state.root = value;
    return;
  }
  const { container, key } = locate(state.root, path);
  if (Array.isArray(container)) container[arrayIndex(key, container.length)] = value;
  else container[key] = value;
}

function test(state: PatchState, path: string, expected: JsonValue): void {
  const actual = path === "" ? state.root : readLast(locate(state.root, path));
  // A missing key counts as null, as clients that guard against a field being set rely on.
  if (!equalNumerically(actual ?? null, expected)) throw status.patchNotApplicable();
}

/** Throws 422 when there is nothing at the path. */
function read(root: JsonValue, path: string): JsonValue {
  const value = readLast(locate(root, path));
  if (value === undefined) throw status.patchNotApplicable();
  return value;
}

function readLast({ container, key }: { container: Container; key: string }): JsonValue | undefined {
  if (Array.isArray(container)) return container[arrayIndex(key, container.length)];
  return Object.hasOwn(container, key) ? container[key] : undefined;
}

/** The container that holds the last step of a pointer. Throws 422 when a step before it is missing or holds a scalar. */
function locate(root: JsonValue, path: string): { container: Container; key: string } {
  if (!path.startsWith("/")) throw status.patchNotApplicable();
  const keys = path.split("/");
  let container = containerAt(root);
  for (let at = 1; at < keys.length - 1; at++) {
    container = containerAt(readLast({ container, key: unescapeKey(keys[at] as string) }));
  }
  return { container, key: unescapeKey(keys[keys.length - 1] as string) };
}

function containerAt(value: JsonValue | undefined): Container {
  if (typeof value !== "object" || value === null) throw status.patchNotApplicable();
  return value;
}

function unescapeKey(key: string): string {
  return key.includes("~") ? key.replaceAll("~1", "/").replaceAll("~0", "~") : key;
}

/** Negative indices count from the end of `length` places. */
function arrayIndex(key: string, length: number): number {
  if (!/^[+-]?[0-9]{1,15}$/.test(key)) throw status.patchNotApplicable();
  const index = Number(key);
  if (index >= length || index < -length) throw status.patchNotApplicable();
  return index < 0 ? index + length : index;
}

/** Deep equality in which 1 equals 1n: the decoder picks between them by size alone. */
function equalNumerically(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return (
      Array.isArray(b) && a.length === b.length && a.every((item, at) => equalNumerically(item, b[at] as JsonValue))
    );
  }
  if (isJsonObject(a)) {
    if (!isJsonObject(b)) return false;
    const keys = Object.keys(a);
    if (keys.length !== Object.keys(b).length) return false;
    return keys.every((key) => Object.hasOwn(b, key) && equalNumerically(a[key] as JsonValue, b[key] as JsonValue));
  }
  return isNumeric(a) && isNumeric(b) && !(a < b) && !(a > b);
}

function isNumeric(value: JsonValue): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}

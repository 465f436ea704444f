import { cloneJson, isJsonObject, type JsonObject, type JsonValue, shallowCopy } from "../../api/json.ts";
import { countValues, objectValuesMax } from "../../api/object-extent.ts";
import { StatusError, status } from "../../api/status.ts";
import { atOnce } from "../../process/sliced.ts";
import { depthOf, documentDepthMax, jsonByteLength } from "./document-depth.ts";
import { wrongDocument } from "./wrong-document.ts";

export const jsonPatchOperationsMax = 10_000;
/** Bytes that the `copy` operations of one patch may copy in total: as many as a request body may have. */
export const jsonPatchCopyBytesMax = 3 * 1024 * 1024;
/** The same limit in values, because even a short value takes time. */
const jsonPatchCopyValuesMax = 2 * objectValuesMax;
/** Values that the `move` operations of one patch may visit in total. Shifted list items count as a share of a value. */
const jsonPatchWorkMax = 1_000_000;
/** Moving an item of a list is this many times faster than visiting a value. */
const shiftedItemsPerValue = 256;

/**
 * Applies a patch of RFC 6902 with the leniencies that clients rely on: negative array indices, a missing `value` is
 * null, and `replace` adds a member that an object does not have. The inputs are unchanged; the result shares the parts
 * of the document that no operation goes into, at their old places only. Throws 400 for a body that is not a list of
 * operations, 413 for too many of them or too much work, and 422 when an operation does not apply.
 */
export function applyJsonPatch(document: JsonValue, patch: JsonValue): JsonValue {
  return atOnce(applyJsonPatchInSteps(document, patch));
}

/** Does the same, and yields before each operation. */
export function* applyJsonPatchInSteps(document: JsonValue, patch: JsonValue): Generator<void, JsonValue> {
  try {
    return yield* patchInSteps(document, patch);
  } catch (error) {
    if (error instanceof JsonPatchError) throw status.patchNotApplicable();
    throw error;
  }
}

/** Explains why an operation does not apply, in the words that clients of webhooks and policies know. */
export class JsonPatchError extends Error {
  override readonly name = "JsonPatchError";
  /** A `test` found another value. */
  readonly isFailedTest: boolean;

  constructor(message: string, isFailedTest = false) {
    super(message);
    this.isFailedTest = isFailedTest;
  }
}

/** Does the same at once, and throws a JsonPatchError when an operation does not apply. */
export function patchDocument(document: JsonValue, patch: JsonValue): JsonValue {
  return atOnce(patchInSteps(document, patch));
}

function* patchInSteps(document: JsonValue, patch: JsonValue): Generator<void, JsonValue> {
  const operations = decodeOperations(patch);
  const state: PatchState = { root: document, copies: new Set(), copiedBytes: 0, copiedValues: 0, work: 0 };
  for (const operation of operations) {
    yield;
    applyOperation(state, operation);
  }
  return state.root;
}

interface PatchState {
  root: JsonValue;
  /** Copies of containers of the document, made before their first change. */
  readonly copies: Set<Container>;
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
      const { container, key } = locate(state, from, "move operation does not apply: doc is missing from path: ");
      const value = within(`error in move for path: '${key}'`, () => readLast(container, key)) ?? null;
      charge(state, countValues(value, jsonPatchWorkMax));
      within(`error in move for path: '${key}'`, () => removeKey(state, container, key));
      const to = locate(state, path, "move operation does not apply: doc is missing destination path: ");
      // A copy, because the place decides what may be changed later: all objects share equal field sets.
      const moved = cloneJson(checkDepth(path, value));
      return within(`error in move for path: '${path}'`, () => addKey(state, to, moved));
    }
    case "copy": {
      const value = copyOf(state, textOf(operation, "from"), path);
      const to = locate(state, path, "copy operation does not apply: doc is missing destination path: ");
      return within("error while adding value during copy", () => addKey(state, to, value));
    }
    case "test":
      return test(state, path, valueOf(operation));
    default:
      throw new JsonPatchError(`Unexpected kind: ${textOf(operation, "op")}`);
  }
}

const missing = "missing value";
const invalidIndex = "invalid index referenced";

function textOf(operation: JsonObject, field: string): string {
  const text = Object.hasOwn(operation, field) ? operation[field] : undefined;
  if (typeof text === "string") return text;
  if (field === "op") return "unknown";
  throw new JsonPatchError(`${textOf(operation, "op")} operation failed to decode ${field}: ${missing}`);
}

/** Runs a part of an operation; its error gets a context. */
function within<T>(context: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof JsonPatchError && context !== "") throw new JsonPatchError(`${context}: ${error.message}`);
    throw error;
  }
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
    throw new JsonPatchError(`the value at ${JSON.stringify(path)} is nested too deeply`);
  }
  return value;
}

/** A member that is not there is copied as null. */
function copyOf(state: PatchState, from: string, path: string): JsonValue {
  const { container, key } = find(state.root, from, "copy operation does not apply: doc is missing from path: ");
  const value = within(`error in copy for from: '${from}'`, () => readLast(container, key)) ?? null;
  state.copiedValues += countValues(value, jsonPatchCopyValuesMax);
  if (state.copiedValues > jsonPatchCopyValuesMax) throw new JsonPatchError("Unable to complete the copy: too large");
  checkDepth(path, value);
  state.copiedBytes += jsonByteLength(value);
  if (state.copiedBytes > jsonPatchCopyBytesMax) {
    throw new JsonPatchError(
      `Unable to complete the copy, the accumulated size increase of copy is ${state.copiedBytes}, exceeding the limit ${jsonPatchCopyBytesMax}`,
    );
  }
  return cloneJson(value);
}

function add(state: PatchState, path: string, value: JsonValue): void {
  const place = locate(state, path, "add operation does not apply: doc is missing path: ", `"${path}"`);
  within(`error in add for path: '${path}'`, () => addKey(state, place, value));
}

function addKey(state: PatchState, { container, key }: Place, value: JsonValue): void {
  if (!Array.isArray(container)) {
    container[key] = value;
    return;
  }
  if (key === "-") {
    container.push(value);
    return;
  }
  const index = within(isIndex(key) ? "" : `value was not a proper array index: '${key}'`, () =>
    arrayIndex(key, container.length + 1),
  );
  charge(state, (container.length - index) / shiftedItemsPerValue);
  if (index === container.length) container.push(value);
  else container.splice(index, 0, value);
}

function remove(state: PatchState, path: string): void {
  const { container, key } = locate(state, path, "remove operation does not apply: doc is missing path: ", `"${path}"`);
  within(`error in remove for path: '${path}'`, () => removeKey(state, container, key));
}

function removeKey(state: PatchState, container: Container, key: string): void {
  if (Array.isArray(container)) {
    const index = arrayIndex(key, container.length);
    charge(state, (container.length - index) / shiftedItemsPerValue);
    container.splice(index, 1);
    return;
  }
  if (!Object.hasOwn(container, key)) {
    throw new JsonPatchError(`Unable to remove nonexistent key: ${key}: ${missing}`);
  }
  delete container[key];
}

function replace(state: PatchState, path: string, value: JsonValue): void {
  if (path === "") {
    if (typeof value !== "object" || value === null) {
      throw new JsonPatchError("replace operation value must be object or array: %!w(<nil>)");
    }
    state.root = value;
    return;
  }
  const { container, key } = locate(state, path, "replace operation does not apply: doc is missing path: ");
  if (!Array.isArray(container)) {
    container[key] = value;
    return;
  }
  if (!isIndex(key) || !isWithin(key, container.length)) {
    throw new JsonPatchError(`replace operation does not apply: doc is missing key: ${path}: ${missing}`);
  }
  container[arrayIndex(key, container.length)] = value;
}

function test(state: PatchState, path: string, expected: JsonValue): void {
  const actual = path === "" ? state.root : tested(state.root, path);
  // A missing key counts as null, as clients that guard against a field being set rely on.
  if (!equalNumerically(actual ?? null, expected)) {
    throw new JsonPatchError(`testing value ${path} failed: test failed`, true);
  }
}

function tested(root: JsonValue, path: string): JsonValue | undefined {
  const { container, key } = find(root, path, "test operation does not apply: is missing path: ");
  return within(`error in test for path: '${path}'`, () => readLast(container, key));
}

function readLast(container: Container, key: string): JsonValue | undefined {
  if (Array.isArray(container)) return container[arrayIndex(key, container.length)];
  return Object.hasOwn(container, key) ? container[key] : undefined;
}

/** A container, and the last step of a pointer into it. */
interface Place {
  readonly container: Container;
  readonly key: string;
}

/**
 * Returns the container that holds the last step of a pointer, to read from it.
 * @param refusal for a pointer with a step before the last that is missing or holds a scalar
 * @throws JsonPatchError
 */
function find(root: JsonValue, path: string, refusal: string): Place {
  return follow(root, path, refusal, path, stepInto);
}

/** Does the same for a change: the containers on the way are copied first, unless they are copies. */
function locate(state: PatchState, path: string, refusal: string, shown = path): Place {
  state.root = changeable(state, state.root);
  return follow(state.root, path, refusal, shown, (container, key) => {
    const part = containerIn(stepInto(container, key));
    if (part === undefined || state.copies.has(part)) return part;
    const copy = changeable(state, part);
    if (Array.isArray(container)) container[arrayIndex(key, container.length)] = copy;
    else container[key] = copy;
    return copy;
  });
}

/** Returns a copy that shares its parts with the original, or the value itself if it is such a copy or a scalar. */
function changeable<T extends JsonValue>(state: PatchState, value: T): T {
  const container = containerIn(value);
  if (container === undefined || state.copies.has(container)) return value;
  const copy = Array.isArray(container) ? [...container] : shallowCopy(container);
  state.copies.add(copy);
  return copy as T;
}

function follow(
  root: JsonValue,
  path: string,
  refusal: string,
  shown: string,
  step: (container: Container, key: string) => JsonValue | undefined,
): Place {
  const refused = () => new JsonPatchError(`${refusal}${shown}: ${missing}`);
  if (!path.startsWith("/")) throw refused();
  const keys = path.split("/");
  let container = containerIn(root);
  for (let at = 1; at < keys.length - 1 && container !== undefined; at++) {
    container = containerIn(step(container, unescapeKey(keys[at] as string)));
  }
  if (container === undefined) throw refused();
  return { container, key: unescapeKey(keys[keys.length - 1] as string) };
}

function stepInto(container: Container, key: string): JsonValue | undefined {
  if (!Array.isArray(container)) return Object.hasOwn(container, key) ? container[key] : undefined;
  return isIndex(key) && isWithin(key, container.length) ? container[arrayIndex(key, container.length)] : undefined;
}

function containerIn(value: JsonValue | undefined): Container | undefined {
  return typeof value === "object" && value !== null ? value : undefined;
}

function unescapeKey(key: string): string {
  return key.includes("~") ? key.replaceAll("~1", "/").replaceAll("~0", "~") : key;
}

/** Negative indices count from the end of `length` places. */
function arrayIndex(key: string, length: number): number {
  if (!isIndex(key)) throw new JsonPatchError(`strconv.Atoi: parsing ${JSON.stringify(key)}: invalid syntax`);
  const index = Number(key);
  if (!isWithin(key, length)) {
    throw new JsonPatchError(`Unable to access invalid index: ${index}: ${invalidIndex}`);
  }
  return index < 0 ? index + length : index;
}

function isIndex(key: string): boolean {
  return /^[+-]?[0-9]{1,15}$/.test(key);
}

function isWithin(key: string, length: number): boolean {
  return Number(key) < length && Number(key) >= -length;
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

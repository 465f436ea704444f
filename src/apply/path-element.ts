import { compareTexts } from "../api/code-points.ts";
import { quoteText } from "../api/go-literal.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../api/json.ts";
import { atOnce } from "../process/sliced.ts";
import { sortedInSteps } from "../process/sorted-in-steps.ts";

/**
 * One step of a field path, in its wire text: `f:<name>` a field or map key, `k:{…}` a list item by its key fields,
 * `v:<json>` a set item, `i:<n>` an item by its index. Texts are canonical, so equal elements are equal texts.
 */
export type PathElement = string;

/** Bounds each of the caches below, which are emptied when full. */
const cachedElementsMax = 8_192;
const fieldElements = new Map<string, PathElement>();
const canonicalTexts = new Map<string, PathElement>();
const parsedElements = new Map<PathElement, JsonValue>();

export function fieldElement(name: string): PathElement {
  return fieldElements.get(name) ?? remember(fieldElements, name, `f:${name}`);
}

export function isFieldElement(element: PathElement): boolean {
  return element.charCodeAt(0) === 0x66;
}

export function valueElement(value: JsonValue): PathElement {
  return `v:${elementValueText(value)}`;
}

/** The element of a list item whose key fields are `names`, in byte order, with these values. */
export function keyElement(names: readonly string[], values: readonly JsonValue[]): PathElement {
  const pairs = names.map((name, at) => `${JSON.stringify(name)}:${elementValueText(values[at] as JsonValue)}`);
  return `k:{${pairs.join(",")}}`;
}

/** A value as upstream writes it inside an element: `<`, `>`, `&` and two separators are escaped once more. */
function elementValueText(value: JsonValue): string {
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null) return escapeForElement(JSON.stringify(value));
  if (Array.isArray(value)) return `[${value.map(elementValueText).join(",")}]`;
  const pairs = Object.keys(value)
    .sort(compareTexts)
    .map((key) => `${escapeForElement(JSON.stringify(key))}:${elementValueText(value[key] as JsonValue)}`);
  return `{${pairs.join(",")}}`;
}

const escaped = /[<>&\u2028\u2029]|\\[bf]/;
/** Takes a backslash that is written as two along, so that what follows it is not read as an escape. */
const escapedAll = /\\\\|[<>&\u2028\u2029]|\\[bf]/g;

function escapeForElement(json: string): string {
  return escaped.test(json) ? json.replace(escapedAll, escapeText) : json;
}

function escapeText(text: string): string {
  if (text === "\\\\") return text;
  const code = text === "\\b" ? 8 : text === "\\f" ? 12 : text.charCodeAt(0);
  return `\\u${code.toString(16).padStart(4, "0")}`;
}

/** Says in upstream's words why a text is not a path element. */
export class PathElementError extends Error {}

/** The canonical element for a text of a client; undefined for an unknown kind of element. */
export function parsePathElement(text: string): PathElement | undefined {
  if (text.startsWith("f:")) return text;
  return canonicalTexts.get(text) ?? parseUncached(text);
}

function parseUncached(text: string): PathElement | undefined {
  if (text.length < 2) throw new PathElementError("key must be 2 characters long:");
  if (text[1] !== ":") throw new PathElementError(`missing colon: ${text}`);
  const rest = text.slice(2);
  switch (text[0]) {
    case "k":
      return remember(canonicalTexts, text, parsedKeyElement(rest));
    case "v":
      return remember(canonicalTexts, text, valueElement(parseElementJson(rest)));
    case "i":
      if (!/^[+-]?[0-9]{1,15}$/.test(rest)) {
        throw new PathElementError(`strconv.Atoi: parsing ${quoteText(rest)}: invalid syntax`);
      }
      return remember(canonicalTexts, text, `i:${Number(rest)}`);
    default:
      return undefined;
  }
}

function parsedKeyElement(json: string): PathElement {
  const value = parseElementJson(json);
  if (!isJsonObject(value)) throw new PathElementError(`ReadObjectCB: expect { or n, but found ${json.slice(0, 1)}`);
  const names = Object.keys(value).sort(compareTexts);
  return keyElement(
    names,
    names.map((name) => value[name] as JsonValue),
  );
}

function parseElementJson(json: string): JsonValue {
  try {
    return JSON.parse(json) as JsonValue;
  } catch {
    throw new PathElementError(`invalid value in path element: ${json}`);
  }
}

/** The order on the wire: fields, keys, values, indexes. */
export function comparePathElements(a: PathElement, b: PathElement): number {
  if (a === b) return 0;
  const rankA = rankOf(a);
  const rankB = rankOf(b);
  if (rankA !== rankB) return rankA - rankB;
  if (rankA === fieldRank) return compareTexts(a, b);
  return compareParsed(rankA, parsedElement(a), parsedElement(b));
}

function compareParsed(rank: number, a: JsonValue, b: JsonValue): number {
  return rank === keyRank ? compareKeys(a as JsonObject, b as JsonObject) : compareValues(a, b);
}

/** Returns the indexes of elements in the order on the wire. Parses each element once, however many there are. */
export function orderOfElements(elements: readonly PathElement[]): number[] {
  return atOnce(orderOfElementsInSteps(elements));
}

/** Does the same, and yields now and then. */
export function* orderOfElementsInSteps(elements: readonly PathElement[]): Generator<void, number[]> {
  const parsed: ParsedElement[] = [];
  for (const [at, element] of elements.entries()) {
    parsed.push(parsedAt(element, at));
    if (at % parsedPerStep === 0) yield;
  }
  return (yield* sortedInSteps(parsed, compareElements)).map(({ at }) => at);
}

const parsedPerStep = 256;

interface ParsedElement {
  readonly at: number;
  readonly element: PathElement;
  readonly rank: number;
  /** Null for a field. */
  readonly value: JsonValue;
}

function parsedAt(element: PathElement, at: number): ParsedElement {
  const rank = rankOf(element);
  return { at, element, rank, value: rank === fieldRank ? null : (JSON.parse(element.slice(2)) as JsonValue) };
}

function compareElements(a: ParsedElement, b: ParsedElement): number {
  if (a.rank !== b.rank) return a.rank - b.rank;
  return a.rank === fieldRank ? compareTexts(a.element, b.element) : compareParsed(a.rank, a.value, b.value);
}

const fieldRank = 0;
const keyRank = 1;

function rankOf(element: PathElement): number {
  switch (element.charCodeAt(0)) {
    case 0x66:
      return fieldRank;
    case 0x6b:
      return keyRank;
    case 0x76:
      return 2;
    default:
      return 3;
  }
}

function parsedElement(element: PathElement): JsonValue {
  const known = parsedElements.get(element);
  if (known !== undefined) return known;
  return remember(parsedElements, element, JSON.parse(element.slice(2)) as JsonValue);
}

/** Field by field, by name and then by value; of two keys that start alike the shorter one comes first. */
function compareKeys(a: JsonObject, b: JsonObject): number {
  const [namesA, namesB] = [Object.keys(a), Object.keys(b)];
  for (let at = 0; at < namesA.length; at++) {
    const [name, other] = [namesA[at] as string, namesB[at]];
    if (other === undefined) return 1;
    const order = compareTexts(name, other) || compareValues(a[name] as JsonValue, b[other] as JsonValue);
    if (order !== 0) return order;
  }
  return namesA.length - namesB.length;
}

/** Numbers, then text, booleans, lists, maps and null. */
function compareValues(a: JsonValue, b: JsonValue): number {
  if (typeof a === "string" && typeof b === "string") return compareTexts(a, b);
  const [rankA, rankB] = [valueRank(a), valueRank(b)];
  if (rankA !== rankB) return rankA - rankB;
  if (Array.isArray(a)) return compareLists(a, b as JsonValue[]);
  if (isJsonObject(a)) return compareKeys(sortedByKey(a), sortedByKey(b as JsonObject));
  return Number(a) - Number(b);
}

function compareLists(a: readonly JsonValue[], b: readonly JsonValue[]): number {
  for (const [at, item] of a.entries()) {
    const other = b[at];
    if (other === undefined) return 1;
    const order = compareValues(item, other);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function sortedByKey(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => compareTexts(a, b)));
}

function valueRank(value: JsonValue): number {
  if (typeof value === "number" || typeof value === "bigint") return 0;
  if (typeof value === "string") return 1;
  if (typeof value === "boolean") return 2;
  if (Array.isArray(value)) return 3;
  return value === null ? 5 : 4;
}

/** A path as messages have it: `.spec.ports[port=80,protocol="TCP"].name`. */
export function pathText(path: readonly PathElement[]): string {
  return path.map(elementText).join("");
}

export function elementText(element: PathElement): string {
  if (isFieldElement(element)) return `.${element.slice(2)}`;
  const rank = rankOf(element);
  const value = parsedElement(element);
  if (rank !== keyRank) return rank === 2 ? `[=${messageText(value)}]` : `[${messageText(value)}]`;
  const fields = Object.entries(value as JsonObject).map(([name, field]) => `${name}=${messageText(field)}`);
  return `[${fields.join(",")}]`;
}

function messageText(value: JsonValue): string {
  if (typeof value === "string") return quoteText(value);
  if (Array.isArray(value)) return `[${value.map(messageText).join(",")}]`;
  if (!isJsonObject(value)) return String(value);
  return Object.entries(value)
    .map(([key, inner]) => `${key}=${messageText(inner)}`)
    .join("");
}

function remember<V>(cache: Map<string, V>, text: string, value: V): V {
  if (cache.size >= cachedElementsMax) cache.clear();
  if (text.length <= 256) cache.set(text, value);
  return value;
}

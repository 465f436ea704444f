import type { JsonObject, JsonValue } from "../../api/json.ts";
import { isJsonObject } from "../../api/json.ts";

/**
 * One step of a field path in its wire text: `f:<name>` a struct field or map key, `k:{…}` an item of a list by its key
 * fields, `v:<json>` an element of a set, `i:<n>` an item by its index.
 */
export type PathElement = string;

const cachedElementsMax = 8_192;
const fieldElements = new Map<string, PathElement>();
const canonicalElements = new Map<string, PathElement>();

export function fieldElement(name: string): PathElement {
  return fieldElements.get(name) ?? remember(fieldElements, name, `f:${name}`);
}

/** Elements of this kind alone are in wire order when they are in the order of their texts. */
export function isFieldElement(element: PathElement): boolean {
  return element.charCodeAt(0) === 0x66;
}

export function valueElement(value: JsonValue): PathElement {
  return `v:${scalarText(value)}`;
}

/** Keys that the item lacks take their default; without one they are left out. */
export function keyElement(
  item: JsonObject,
  keys: readonly string[],
  defaultOf: (key: string) => JsonValue | undefined,
): PathElement {
  let text = "";
  for (const key of keys.length < 2 ? keys : [...keys].sort()) {
    const value = (Object.hasOwn(item, key) ? item[key] : undefined) ?? defaultOf(key);
    if (value !== undefined) text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${scalarText(value)}`;
  }
  return `k:{${text}}`;
}

/** The canonical form of an element that a client sent; undefined when it is malformed. */
export function parsePathElement(text: string): PathElement | undefined {
  if (text.startsWith("f:")) return text;
  return canonicalElements.get(text) ?? parseUncached(text);
}

function parseUncached(text: string): PathElement | undefined {
  const canonical = canonicalElement(text);
  return canonical === undefined ? undefined : remember(canonicalElements, text, canonical);
}

function canonicalElement(text: string): PathElement | undefined {
  const rest = text.slice(2);
  if (text.startsWith("i:")) return /^[0-9]{1,9}$/.test(rest) ? `i:${Number(rest)}` : undefined;
  if (!text.startsWith("k:") && !text.startsWith("v:")) return undefined;
  const value = parseJson(rest);
  if (value === undefined) return undefined;
  // A number beyond 2^53 would lose digits in a round trip; such a text is kept as it came.
  if (text.startsWith("v:")) return /[0-9]{16}/.test(rest) ? text : valueElement(value);
  if (!isJsonObject(value)) return undefined;
  return /[0-9]{16}/.test(rest) ? text : keyElement(value, Object.keys(value), () => undefined);
}

/** The order on the wire: fields, keys, values, indices; numbers by value. */
export function comparePathElements(a: PathElement, b: PathElement): number {
  if (a === b) return 0;
  const [rankA, rankB] = [rank(a), rank(b)];
  if (rankA !== rankB) return rankA - rankB;
  if (rankA === 0) return a < b ? -1 : 1;
  return compareNumbersInside(a, b) ?? (a < b ? -1 : 1);
}

function rank(element: PathElement): number {
  const letter = element[0];
  return letter === "f" ? 0 : letter === "k" ? 1 : letter === "v" ? 2 : 3;
}

/** Where two texts first differ inside a number, the number decides; undefined when they differ elsewhere. */
function compareNumbersInside(a: string, b: string): number | undefined {
  let at = 0;
  while (a[at] === b[at]) at++;
  while (at > 0 && isDigit(a[at - 1])) at--;
  if (a[at - 1] === '"' || !isDigit(a[at]) || !isDigit(b[at])) return undefined;
  return numberAt(a, at) - numberAt(b, at);
}

function numberAt(text: string, start: number): number {
  let end = start;
  while (isDigit(text[end])) end++;
  return Number(text.slice(start, end));
}

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= "0" && character <= "9";
}

function scalarText(value: JsonValue): string {
  return typeof value === "bigint"
    ? String(value)
    : JSON.stringify(value, (_, inner) => (typeof inner === "bigint" ? String(inner) : inner));
}

function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

function remember(cache: Map<string, PathElement>, text: string, element: PathElement): PathElement {
  if (cache.size >= cachedElementsMax) cache.clear();
  if (text.length <= 256) cache.set(text, element);
  return element;
}

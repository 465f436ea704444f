import { goText } from "../../api/go-text.ts";
import { isJsonObject, type JsonValue, sortedJson } from "../../api/json.ts";

/** Values that following a path may look at, in all of its steps: a few milliseconds. */
const visitsMax = 100_000;
/** Filters inside filters. */
const depthMax = 16;

/** A path as printer columns have it: `.status.conditions[?(@.type=="Ready")].status`. */
export type JsonPath = readonly Step[];

type Step =
  | { readonly kind: "field"; readonly name: string }
  | { readonly kind: "every" }
  | { readonly kind: "deep" }
  | { readonly kind: "slice"; readonly from: number; readonly to: number | undefined; readonly step: number }
  | { readonly kind: "union"; readonly paths: readonly JsonPath[] }
  | { readonly kind: "filter"; readonly left: JsonPath; readonly operator: string; readonly right: JsonPath }
  | { readonly kind: "value"; readonly value: string | number | boolean };

/** A path that cannot be read, or that leads nowhere in a way that is a mistake. */
class JsonPathError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "JsonPathError";
  }
}

/** Reads a path. Returns undefined for a text that is not a path. */
export function parseJsonPath(text: string): JsonPath | undefined {
  return attempt(() => new PathReader(text, 0).read());
}

/** Returns the values that a path leads to; undefined if it cannot be followed. Fields may be missing. */
export function followJsonPath(path: JsonPath, value: JsonValue): JsonValue[] | undefined {
  return attempt(() => follow(path, [value], new Visits()));
}

function attempt<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof JsonPathError) return undefined;
    throw error;
  }
}

class PathReader {
  readonly #text: string;
  readonly #depth: number;
  #at = 0;

  constructor(text: string, depth: number) {
    if (depth > depthMax) throw new JsonPathError("path is too deep");
    this.#text = text;
    this.#depth = depth;
  }

  read(): JsonPath {
    const steps: Step[] = [];
    while (this.#at < this.#text.length) {
      if (this.#take("[?(")) steps.push(this.#filter());
      else if (this.#take("..")) steps.push(...this.#deep(steps));
      else if (this.#take("[")) steps.push(...this.#brackets());
      else if (this.#take(".")) steps.push(this.#field());
      else if (!this.#take(" ") && !this.#take("@") && !this.#take("$")) steps.push(this.#literal());
    }
    return steps;
  }

  #take(prefix: string): boolean {
    if (!this.#text.startsWith(prefix, this.#at)) return false;
    this.#at += prefix.length;
    return true;
  }

  #deep(before: readonly Step[]): Step[] {
    if (before.at(-1)?.kind === "deep") throw new JsonPathError("invalid multiple recursive descent");
    const next = this.#text[this.#at] ?? "";
    return /[\p{L}\p{Nd}_]/u.test(next) ? [{ kind: "deep" }, this.#field()] : [{ kind: "deep" }];
  }

  #field(): Step {
    let name = "";
    for (; this.#at < this.#text.length; this.#at++) {
      const character = this.#text[this.#at] as string;
      if (character === "\\") name += this.#text[++this.#at] ?? "";
      else if (/[\s.,[\]$@{}]/.test(character)) break;
      else name += character;
    }
    return name === "*" ? { kind: "every" } : { kind: "field", name };
  }

  #literal(): Step {
    const rest = this.#text.slice(this.#at);
    const quoted = /^"((?:[^"\\]|\\[^])*)"|^'((?:[^'\\]|\\[^])*)'/.exec(rest);
    if (quoted !== null) {
      this.#at += quoted[0].length;
      return { kind: "value", value: (quoted[1] ?? quoted[2] ?? "").replaceAll(/\\([^])/g, "$1") };
    }
    const plain = /^(?:true|false|[+-]?\d+(?:\.\d+)?)/.exec(rest)?.[0];
    if (plain === undefined) throw new JsonPathError("unrecognized character in action");
    this.#at += plain.length;
    return { kind: "value", value: plain === "true" ? true : plain === "false" ? false : Number(plain) };
  }

  #filter(): Step {
    const end = this.#endOfFilter();
    const text = this.#text.slice(this.#at, end);
    this.#at = end + 1;
    if (!this.#take("]")) throw new JsonPathError("unclosed array expect ]");
    const inner = (part: string) => new PathReader(part, this.#depth + 1).read();
    const match = /^([^!<>=]+)([!<>=]+)([^]+)$/.exec(text);
    if (match === null) return { kind: "filter", left: inner(text), operator: "exists", right: [] };
    const [, left = "", operator = "", right = ""] = match;
    return { kind: "filter", left: inner(left), operator, right: inner(right) };
  }

  /** A parenthesis in quotes does not end a filter. */
  #endOfFilter(): number {
    let quote = "";
    for (let at = this.#at; at < this.#text.length; at++) {
      const character = this.#text[at] as string;
      if (character === "\\") at++;
      else if (quote !== "") quote = character === quote ? "" : quote;
      else if (character === '"' || character === "'") quote = character;
      else if (character === ")") return at;
    }
    throw new JsonPathError("unterminated filter");
  }

  #brackets(): Step[] {
    const end = this.#text.indexOf("]", this.#at);
    if (end < 0) throw new JsonPathError("unterminated array");
    const text = this.#text.slice(this.#at, end);
    this.#at = end + 1;
    const parts = text.split(",");
    if (parts.length > 1) {
      const paths = parts.map((part) => new PathReader(`[${part.trim()}]`, this.#depth + 1).read());
      return [{ kind: "union", paths }];
    }
    if (text === "*") return [{ kind: "slice", from: 0, to: undefined, step: 1 }];
    const key = /^'([^']*)'$/.exec(text);
    if (key !== null) return [...new PathReader(`.${key[1]}`, this.#depth + 1).read()];
    return [readSlice(text)];
  }
}

function readSlice(text: string): Step {
  const match = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/.exec(text);
  if (match === null) throw new JsonPathError(`invalid array index ${text}`);
  const [, first = "", second, third] = match;
  const from = first === "" ? 0 : Number(first);
  const step = third === undefined || third === ":" ? 1 : Number(third.slice(1));
  if (second === undefined) return { kind: "slice", from, to: from === -1 ? undefined : from + 1, step };
  return { kind: "slice", from, to: second === ":" ? undefined : Number(second.slice(1)), step };
}

/** Counts the values that are visited, so that no path takes long. */
class Visits {
  #count = 0;

  add(count: number): void {
    this.#count += count;
    if (this.#count > visitsMax) throw new JsonPathError("path leads to too many values");
  }
}

function follow(path: JsonPath, values: readonly JsonValue[], visits: Visits): JsonValue[] {
  let current = [...values];
  for (const step of path) current = take(step, current, visits);
  return current;
}

function take(step: Step, values: readonly JsonValue[], visits: Visits): JsonValue[] {
  visits.add(values.length);
  switch (step.kind) {
    case "field":
      return values.flatMap((value) =>
        isJsonObject(value) && Object.hasOwn(value, step.name) ? [value[step.name] as JsonValue] : [],
      );
    case "every":
      return collected(values, visits, childrenOf);
    case "deep":
      return descend(values, visits);
    case "slice":
      return collected(values, visits, (value) => (value === null ? [] : sliceOf(value, step)));
    case "union":
      return collected(step.paths, visits, (path) => follow(path, values, visits));
    case "filter":
      return collected(values, visits, (value) => filterItems(value, step, visits));
    case "value":
      return values.map(() => step.value);
  }
}

/** Like `flatMap`, and stops when too many values come together. */
function collected<T>(items: readonly T[], visits: Visits, take: (item: T) => readonly JsonValue[]): JsonValue[] {
  const found: JsonValue[] = [];
  for (const item of items) {
    const taken = take(item);
    visits.add(taken.length);
    for (const value of taken) found.push(value);
  }
  return found;
}

function childrenOf(value: JsonValue): JsonValue[] {
  if (Array.isArray(value)) return value;
  return isJsonObject(value) ? Object.values(value) : [];
}

function descend(values: readonly JsonValue[], visits: Visits): JsonValue[] {
  const found: JsonValue[] = [];
  const visit = (value: JsonValue) => {
    const children = childrenOf(value);
    if (children.length === 0) return;
    visits.add(children.length);
    found.push(value);
    for (const child of children) visit(child);
  };
  for (const value of values) visit(value);
  return found;
}

function sliceOf(value: JsonValue, { from, to, step }: Step & { readonly kind: "slice" }): JsonValue[] {
  if (!Array.isArray(value)) throw new JsonPathError("value is not array or slice");
  const start = from < 0 ? from + value.length : from;
  const end = to === undefined ? value.length : to < 0 ? to + value.length : to;
  if (start === end) return [];
  if (start < 0 || start >= value.length || end < 0 || end > value.length || start > end || step <= 0) {
    throw new JsonPathError("array index out of bounds");
  }
  return value.slice(start, end).filter((_, at) => at % step === 0);
}

function filterItems(
  value: JsonValue,
  { left, operator, right }: Step & { readonly kind: "filter" },
  visits: Visits,
): JsonValue[] {
  if (!Array.isArray(value)) throw new JsonPathError("value is not array or slice and cannot be filtered");
  return value.filter((item) => {
    if (operator === "exists") return (attempt(() => follow(left, [item], visits)) ?? []).length > 0;
    const [lefts, rights] = [follow(left, [item], visits), follow(right, [item], visits)];
    if (lefts.length === 0 || rights.length === 0) return false;
    if (lefts.length > 1 || rights.length > 1) throw new JsonPathError("can only compare one element at a time");
    return compare(lefts[0] as JsonValue, operator, rights[0] as JsonValue);
  });
}

function compare(left: JsonValue, operator: string, right: JsonValue): boolean {
  if (kindOf(left) !== kindOf(right)) throw new JsonPathError("incompatible types for comparison");
  const [a, b] = [left as string | number | boolean, right as string | number | boolean];
  switch (operator) {
    case "==":
      return a === b;
    case "!=":
      return a !== b;
  }
  if (typeof a === "boolean") throw new JsonPathError("invalid type for comparison");
  switch (operator) {
    case "<":
      return a < b;
    case "<=":
      return a <= b;
    case ">":
      return a > b;
    case ">=":
      return a >= b;
    default:
      throw new JsonPathError(`unrecognized filter operator ${operator}`);
  }
}

function kindOf(value: JsonValue): string {
  if (typeof value === "object") throw new JsonPathError("invalid type for comparison");
  if (typeof value !== "number") return typeof value === "bigint" ? "integer" : typeof value;
  return Number.isInteger(value) ? "integer" : "float";
}

/** Writes a value as a column of texts shows it. */
export function jsonPathText(value: JsonValue): string {
  if (value === null) return "<no value>";
  return typeof value === "object" ? JSON.stringify(sortedJson(value), plainNumber) : goText(value);
}

function plainNumber(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? Number(value) : value;
}

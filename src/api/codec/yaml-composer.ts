import { EVENT_ID, type Event, getScalarValue, parseEvents, SCALAR_STYLE, YAMLException } from "js-yaml";
import { cloneJson, emptyJsonObject, isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { copyOfText } from "./byte-text.ts";
import { duplicatesMax, pathText } from "./json.ts";
import { firstDocument, refuseLeadingTab, type Stop, syntaxError } from "./yaml-document.ts";
import { resolvePlainScalar } from "./yaml-scalar.ts";
import { type ParsedYaml, YamlSyntaxError, yamlAliasedSizeMax, yamlDepthMax } from "./yaml-syntax.ts";

/** Cost of repeating a value, in addition to the length of its text. */
const valueSize = 8;

/** See `parseYaml`. @throws YamlSyntaxError */
export function* composeYaml(text: string, strict: boolean): Generator<void, ParsedYaml> {
  const source = firstDocument(text);
  refuseLeadingTab(source);
  const events = eventsOf(source);
  yield;
  return new YamlComposer(source, events, strict).compose();
}

const start: Stop = { line: 0, position: 0 };

function eventsOf(source: string): Event[] {
  try {
    return parseEvents(source, { maxDepth: yamlDepthMax });
  } catch (error) {
    // The parser does not document a class for its errors.
    if (error instanceof YAMLException) throw syntaxError(source, error.reason, error.mark ?? start);
    throw new YamlSyntaxError(error instanceof Error ? error.message : "cannot be parsed");
  }
}

/** A value and what repeating it would cost. */
interface Node {
  readonly value: JsonValue;
  readonly size: number;
}
interface NodeProperties {
  readonly anchorStart: number;
  readonly anchorEnd: number;
  readonly tagStart: number;
  readonly tagEnd: number;
}

const absent = -1;
const standardTagPrefix = "tag:yaml.org,2002:";
/** Tags that say how a scalar is read. A scalar with any other tag is text. */
type TagName = "str" | "int" | "float" | "bool" | "null" | "merge" | "timestamp" | "binary";
const tagNames: ReadonlySet<string> = new Set<TagName>([
  "str",
  "int",
  "float",
  "bool",
  "null",
  "merge",
  "timestamp",
  "binary",
]);

class YamlComposer {
  readonly #source: string;
  readonly #events: readonly Event[];
  readonly #strict: boolean;
  #at = 0;
  #depth = 0;
  #aliasedSize = 0;
  /** Anchored nodes; undefined while the value of an anchor is still being read. */
  readonly #anchors = new Map<string, Node | undefined>();
  readonly #path: (string | number)[] = [];
  readonly #duplicates = new Set<string>();
  readonly #duplicateLines: string[] = [];
  readonly #lines: LineCounter;

  constructor(source: string, events: readonly Event[], strict: boolean) {
    this.#source = source;
    this.#events = events;
    this.#strict = strict;
    this.#lines = new LineCounter(source);
  }

  compose(): ParsedYaml {
    let value: JsonValue = null;
    if (this.#events.length > 0) {
      this.#next();
      if (this.#peek() !== EVENT_ID.POP) value = this.#node().value;
    }
    return { value, duplicates: [...this.#duplicates], duplicateLines: this.#duplicateLines };
  }

  #next(): Event {
    const event = this.#events[this.#at];
    if (event === undefined) throw new YamlSyntaxError("unexpected end of document");
    this.#at += 1;
    return event;
  }

  #peek(): number | undefined {
    return this.#events[this.#at]?.type;
  }

  #node(): Node {
    const event = this.#next();
    switch (event.type) {
      case EVENT_ID.ALIAS:
        return this.#alias(this.#source.slice(event.anchorStart, event.anchorEnd));
      case EVENT_ID.SCALAR:
        return this.#anchored(event, () => this.#scalar(event));
      case EVENT_ID.SEQUENCE:
        return this.#anchored(event, () => this.#sequence());
      case EVENT_ID.MAPPING:
        return this.#anchored(event, () => this.#mapping(event));
      default:
        throw new YamlSyntaxError("unexpected end of document");
    }
  }

  #anchored(event: NodeProperties, read: () => Node): Node {
    if (event.anchorStart === absent) return read();
    const name = this.#source.slice(event.anchorStart, event.anchorEnd);
    this.#anchors.set(name, undefined);
    const node = read();
    this.#anchors.set(name, node);
    return node;
  }

  #alias(name: string): Node {
    if (!this.#anchors.has(name)) throw new YamlSyntaxError(`unknown anchor '${name}' referenced`);
    const node = this.#anchors.get(name);
    if (node === undefined) throw new YamlSyntaxError(`anchor '${name}' value contains itself`);
    this.#chargeAlias(node.size);
    return { value: cloneJson(node.value), size: node.size };
  }

  #chargeAlias(size: number): void {
    this.#aliasedSize += size;
    if (this.#aliasedSize > yamlAliasedSizeMax) throw new YamlSyntaxError("document contains excessive aliasing");
  }

  #sequence(): Node {
    this.#descend();
    const list: JsonValue[] = [];
    let size = valueSize;
    while (this.#peek() !== EVENT_ID.POP) {
      this.#path[this.#depth] = list.length;
      const item = this.#node();
      list.push(item.value);
      size += item.size;
    }
    this.#next();
    this.#depth -= 1;
    return { value: list, size };
  }

  #mapping(event: Event): Node {
    if (this.#source[startOf(event)] === ":") throw new YamlSyntaxError("did not find expected key");
    this.#descend();
    const own = emptyJsonObject();
    const merged: Node[] = [];
    let size = valueSize;
    while (this.#peek() !== EVENT_ID.POP) {
      const key = this.#key();
      if (key === undefined) {
        merged.push(...mergeSources(this.#node()));
        continue;
      }
      this.#path[this.#depth] = key;
      if (this.#strict && key in own) this.#noteDuplicate(key);
      const item = this.#node();
      own[key] = item.value;
      size += item.size + key.length;
    }
    this.#next();
    this.#depth -= 1;
    if (merged.length === 0) return { value: withSortedKeys(own), size };
    for (const source of merged) {
      this.#chargeAlias(source.size);
      size += source.size;
    }
    return { value: withSortedKeys(mergeInto(own, merged)), size };
  }

  #descend(): void {
    this.#depth += 1;
  }

  /** Returns the text of a key; undefined for the merge key. */
  #key(): string | undefined {
    const event = this.#events[this.#at];
    if (event?.type === EVENT_ID.SCALAR && event.style === SCALAR_STYLE.PLAIN) {
      const isMerge = getScalarValue(this.#source, event) === "<<";
      const tag = this.#tagName(event);
      if (isMerge && (tag === undefined || tag === "merge")) {
        this.#at += 1;
        return undefined;
      }
    }
    const { value } = this.#node();
    if (value === null || typeof value === "object") {
      const type = value === null ? "null" : Array.isArray(value) ? "list" : "map";
      throw new YamlSyntaxError(`unsupported map key of type: ${type}`);
    }
    return String(value);
  }

  #scalar(event: Extract<Event, { type: typeof EVENT_ID.SCALAR }>): Node {
    const text = copyOfText(getScalarValue(this.#source, event));
    const tag = this.#tagName(event);
    const isPlain = event.style === SCALAR_STYLE.PLAIN;
    const value = tag === undefined ? (isPlain ? this.#plain(text) : text) : this.#tagged(tag, text);
    return { value, size: valueSize + text.length };
  }

  #plain(text: string): JsonValue {
    const value = resolvePlainScalar(text);
    if (value === undefined) throw new YamlSyntaxError(`json: unsupported value: ${text}`);
    return value;
  }

  #tagged(tag: TagName, text: string): JsonValue {
    if (tag === "str" || tag === "timestamp") return text;
    if (tag === "binary") return binaryText(text);
    const value = this.#plain(text);
    const type = value === null ? "null" : typeof value === "bigint" ? "number" : typeof value;
    const fits =
      (tag === "null" && type === "null") ||
      (tag === "bool" && type === "boolean") ||
      (tag === "float" && type === "number") ||
      (tag === "int" && (typeof value === "bigint" || Number.isInteger(value)));
    if (!fits) throw new YamlSyntaxError(`cannot decode !!${type} \`${text.slice(0, 40)}\` as a !!${tag}`);
    return value;
  }

  /** Returns the name of a tag; undefined without one. `!` alone means text, and so does an unknown tag. */
  #tagName(event: NodeProperties): TagName | undefined {
    if (event.tagStart === absent) return undefined;
    const raw = this.#source.slice(event.tagStart, event.tagEnd);
    if (raw === "!") return "str";
    const name = raw.startsWith("!!")
      ? raw.slice(2)
      : raw.startsWith(`!<${standardTagPrefix}`) && raw.endsWith(">")
        ? raw.slice(2 + standardTagPrefix.length, -1)
        : "";
    return tagNames.has(name) ? (name as TagName) : "str";
  }

  /** Reports the line where the value begins, which is the next node. */
  #noteDuplicate(key: string): void {
    if (this.#duplicateLines.length >= duplicatesMax) return;
    this.#duplicates.add(pathText(this.#path, this.#depth));
    const line = this.#lines.at(startOf(this.#events[this.#at]));
    this.#duplicateLines.push(`line ${line}: key ${JSON.stringify(key)} already set in map`);
  }
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The text whose bytes are given as base64. */
function binaryText(encoded: string): string {
  const joined = encoded.replace(/[\r\n]/g, "");
  if (!base64.test(joined)) throw new YamlSyntaxError("!!binary value contains invalid base64 data");
  return Buffer.from(joined, "base64").toString();
}

/** Returns the maps that a merge key names, in order of precedence. */
function mergeSources({ value, size }: Node): Node[] {
  const values = Array.isArray(value) ? value : [value];
  if (!values.every(isJsonObject)) throw new YamlSyntaxError("map merge requires map or sequence of maps as the value");
  return values.map((one, at) => ({ value: one, size: at === 0 ? size : 0 }));
}

/** Upstream converts YAML to JSON, which sorts keys: of several mistakes it finds that in the first key. */
function withSortedKeys(map: JsonObject): JsonObject {
  const keys = Object.keys(map);
  if (keys.every((key, at) => at === 0 || (keys[at - 1] as string) < key)) return map;
  const sorted = emptyJsonObject();
  for (const key of keys.sort()) sorted[key] = map[key] as JsonValue;
  return sorted;
}

/** Merges maps into another, whose own keys win. */
function mergeInto(own: JsonObject, sources: readonly Node[]): JsonObject {
  for (const { value } of sources) {
    const source = value as JsonObject;
    for (const key of Object.keys(source)) if (!(key in own)) own[key] = source[key] as JsonValue;
  }
  return own;
}

function startOf(event: Event | undefined): number {
  if (event === undefined) return 0;
  if ("valueStart" in event) return event.valueStart;
  if ("start" in event) return event.start;
  return "anchorStart" in event ? event.anchorStart : 0;
}

/** Finds line numbers for offsets in ascending order, in one pass over the text. */
class LineCounter {
  readonly #source: string;
  #line = 1;
  #nextBreak: number;

  constructor(source: string) {
    this.#source = source;
    this.#nextBreak = source.indexOf("\n");
  }

  at(offset: number): number {
    while (this.#nextBreak !== -1 && this.#nextBreak < offset) {
      this.#line += 1;
      this.#nextBreak = this.#source.indexOf("\n", this.#nextBreak + 1);
    }
    return this.#line;
  }
}

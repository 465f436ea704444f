import { equalJson, isJsonObject, type JsonObject, type JsonValue, sortedJson } from "../../src/api/json.ts";
import { objectOf, objectsOf } from "../../src/api/json-reading.ts";
import type { TestServer } from "../integration/server.ts";

/** A part of a document that the server publishes about itself, with its name in the recording. */
export interface RecordedPart {
  readonly kind: string;
  readonly what: string;
  readonly request: { readonly target: string; readonly headers: Readonly<Record<string, string>> };
  readonly expected: { readonly body: JsonValue };
}

type Fetch = (target: string, headers?: Readonly<Record<string, string>>) => Promise<JsonObject>;

/** Compares discovery and OpenAPI documents with the recorded ones, part by part and without descriptions. */
export class PublishedParts {
  readonly #server: TestServer;
  readonly #documents = new Map<string, Promise<JsonObject>>();

  constructor(server: TestServer) {
    this.#server = server;
  }

  /** Describes the difference of the part; undefined if there is none. */
  async differs(recorded: RecordedPart): Promise<string | undefined> {
    const { kind, what, request, expected } = recorded;
    const found = (await this.#part(recorded)) ?? null;
    if (equalJson(found, expected.body)) return undefined;
    const texts = [expected.body, found].map((value) => JSON.stringify(value));
    return `d: ${kind} ${what}: GET ${request.target}\n  expected ${texts[0]}\n  actual   ${texts[1]}`;
  }

  readonly #fetch: Fetch = (target, headers = {}) => {
    const key = JSON.stringify([target, headers]);
    const known = this.#documents.get(key) ?? this.#read(target, headers);
    this.#documents.set(key, known);
    return known;
  };

  async #read(target: string, headers: Readonly<Record<string, string>>): Promise<JsonObject> {
    const lowerCased = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    const answer = await this.#server.request("GET", target, { headers: lowerCased });
    const one = (name: string) => answer.headers.get(name);
    const all = (name: string) => (one(name) === null ? null : [one(name)]);
    const head = [answer.code, one("content-type"), all("vary"), all("cache-control"), one("etag") !== null];
    return { head, body: JSON.parse(answer.text) as JsonValue };
  }

  async #part({ kind, what, request: { target, headers } }: RecordedPart): Promise<JsonValue | undefined> {
    if (kind.startsWith("openapi v2 ")) return v2Part(await this.#openApi("/openapi/v2"), kind, what);
    if (kind.startsWith("openapi v3 index")) return keysOf((await this.#body("/openapi/v3"))["paths"]);
    if (kind.startsWith("openapi v3 ")) return v3Part(await this.#openApi(target), kind, what);
    if (kind.startsWith("openapi ")) return pathsPart(await this.#openApi(target), kind, what);
    if (kind.includes("Discovery")) return discoveryPart(await this.#fetch(target, headers), kind, what);
    return legacyPart(await this.#body(target), kind, what, target);
  }

  async #body(target: string): Promise<JsonObject> {
    return objectOf((await this.#fetch(target))["body"]);
  }

  /** Returns an OpenAPI document without descriptions, and with shared parameters written out. */
  async #openApi(target: string): Promise<JsonObject> {
    const document = objectOf(bare((await this.#fetch(target))["body"] ?? null));
    const shared = objectOf(document["parameters"]);
    if (target !== "/openapi/v2") return document;
    return { ...document, paths: withParameters(document["paths"] ?? {}, shared) };
  }
}

function legacyPart(document: JsonObject, kind: string, what: string, target: string): JsonValue | undefined {
  if (kind === "APIVersions") {
    const { serverAddressByClientCIDRs: _addresses, ...rest } = document;
    return rest;
  }
  if (kind === "APIGroupList") return namesIn(document["groups"], "name");
  if (kind === "APIGroup") return what === target ? document : named(document["groups"], "name", what);
  if (kind === "APIResourceList") return namesIn(document["resources"], "name");
  return named(document["resources"], "name", what.slice(target.length + 1));
}

function discoveryPart({ head, body }: JsonObject, kind: string, what: string): JsonValue | undefined {
  const items = objectOf(body)["items"] ?? [];
  const words = what.split(" ");
  if (kind === "APIGroupDiscoveryList") return words[2] === "type" ? head : groupNames(items);
  const group = (name: string) => objectsOf(items).find((item) => groupName(item) === name) ?? {};
  if (kind === "APIGroupDiscovery") {
    const found = group(words[2] ?? "");
    return words[3] === "metadata" ? found["metadata"] : namesIn(found["versions"], "version");
  }
  const isResource = kind === "APIResourceDiscovery";
  const [groupWord = "", versionWord = ""] = isResource ? words.slice(1, 3) : words.slice(2, 4);
  const { resources, ...rest } = named(group(groupWord)["versions"], "version", versionWord) ?? {};
  if (isResource) return named(resources, "resource", words[3] ?? "");
  return words[1] === "order" ? namesIn(resources, "resource") : rest;
}

/** The core group has no name, which the recording writes as Python does. */
function groupName(item: JsonObject): string {
  return String(objectOf(item["metadata"])["name"] ?? "None");
}

function groupNames(items: JsonValue): JsonValue[] {
  return objectsOf(items).map((item) => objectOf(item["metadata"])["name"] ?? null);
}

function v2Part(document: JsonObject, kind: string, what: string): JsonValue | undefined {
  if (kind === "openapi v2 document") return without(document, ["paths", "definitions", "info", "parameters"]);
  const definitions = objectOf(document["definitions"]);
  return kind === "openapi v2 definitions" ? keysOf(definitions) : definitions[what];
}

function v3Part(document: JsonObject, kind: string, what: string): JsonValue | undefined {
  if (kind === "openapi v3 document") return without(document, ["paths", "components", "info"]);
  const { schemas = {}, ...rest } = objectOf(document["components"]);
  if (kind === "openapi v3 components") return rest;
  return kind === "openapi v3 schemas" ? keysOf(schemas) : objectOf(schemas)[what];
}

function pathsPart({ paths }: JsonObject, kind: string, what: string): JsonValue | undefined {
  if (kind === "openapi paths") return keysOf(paths);
  const method = kind.slice("openapi operation ".length);
  const path = what.slice(what.indexOf(` ${method} /`) + method.length + 2);
  const item = objectOf(objectOf(paths)[path]);
  const operation = item[method];
  if (!isJsonObject(operation)) return operation;
  return { ...operation, parameters: { ...byName(item["parameters"]), ...byName(operation["parameters"]) } };
}

function byName(parameters: JsonValue | undefined): JsonObject {
  const nameOf = ({ name, $ref }: JsonObject) => String(name ?? $ref ?? "?");
  return Object.fromEntries(objectsOf(parameters).map((parameter) => [nameOf(parameter), parameter]));
}

function withParameters(paths: JsonValue, shared: JsonObject): JsonObject {
  const resolved = (parameters: JsonValue) =>
    objectsOf(parameters).map((parameter) => {
      const name =
        String(parameter["$ref"] ?? "")
          .split("/")
          .at(-1) ?? "";
      return shared[name] ?? parameter;
    });
  const operation = (name: string, value: JsonValue): JsonValue => {
    if (name === "parameters") return resolved(value);
    if (!isJsonObject(value) || value["parameters"] === undefined) return value;
    return { ...value, parameters: resolved(value["parameters"]) };
  };
  return mapped(objectOf(paths), (_path, item) => mapped(objectOf(item), operation));
}

/** Lists whose order means nothing. */
const unordered: ReadonlySet<string> = new Set([
  "enum",
  "required",
  "consumes",
  "produces",
  "x-kubernetes-group-version-kind",
  "schemes",
  "oneOf",
  "security",
  "tags",
]);

function bare(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(bare);
  if (!isJsonObject(value)) return value;
  const result: JsonObject = {};
  for (const [name, part] of Object.entries(value)) {
    if (name === "description" && typeof part === "string") continue;
    const shown = bare(part);
    result[name] = unordered.has(name) && Array.isArray(shown) ? inAnyOrder(shown) : shown;
  }
  return result;
}

function inAnyOrder(list: readonly JsonValue[]): JsonValue[] {
  const key = (value: JsonValue) => JSON.stringify(sortedJson(value));
  return list.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
}

function mapped(object: JsonObject, change: (name: string, value: JsonValue) => JsonValue): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(name, value)]));
}

function without(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

function keysOf(value: JsonValue | undefined): JsonObject {
  return mapped(objectOf(value), () => 1);
}

function namesIn(list: JsonValue | undefined, field: string): JsonValue[] {
  return objectsOf(list).map((item) => item[field] ?? null);
}

function named(list: JsonValue | undefined, field: string, name: string): JsonObject | undefined {
  return objectsOf(list).find((item) => item[field] === name);
}

import { stringifyJson } from "../../src/api/codec/json.ts";
import { apiVersionOf } from "../../src/api/gvk.ts";
import { cloneJson, isJsonObject, type JsonObject, type JsonValue } from "../../src/api/json.ts";
import { structOf } from "../../src/api/scheme/object-form.ts";
import type { ResourceInfo } from "../../src/api/scheme/resource.ts";
import { Scheme } from "../../src/kinds/scheme.ts";
import { type MinimalObject, minimalObjects } from "../integration/minimal-objects.ts";
import { type Chance, randomObject } from "../integration/random-object.ts";
import type { ComparedRequest } from "./compared-server.ts";

/** Makes one request of an area. */
type Generator = (chance: Chance) => ComparedRequest;

/** Requests that compare two servers. Writes are dry runs, except for those in `setup`. */
export interface ComparedRequests {
  /** Requests that run first, and whose answers do not count. */
  readonly setup: readonly ComparedRequest[];
  readonly areas: ReadonlyMap<string, Generator>;
  readonly cleanup: readonly ComparedRequest[];
}

const objects = 4;

/** @param namespace made for the comparison and removed afterwards */
export async function comparedRequests(namespace: string): Promise<ComparedRequests> {
  const minimal = await minimalObjects(namespace);
  const kinds = Scheme.builtIn().resources.filter((info) => !info.virtual && minimal[`${info.group}/${info.kind}`]);
  // Servers create their own ConfigMaps in a namespace.
  const secrets = `/api/v1/namespaces/${namespace}/secrets`;
  const post = (target: string, body: JsonObject): ComparedRequest => ({
    method: "POST",
    target,
    body: stringifyJson(body),
  });
  const collectionOf = (info: ResourceInfo) =>
    `${info.group === "" ? "/api" : "/apis"}/${apiVersionOf(info)}${info.namespaced ? `/namespaces/${namespace}` : ""}/${info.resource}`;
  const objectOf = (info: ResourceInfo) => minimalObject(info, minimal[`${info.group}/${info.kind}`] ?? {});
  return {
    setup: [
      post("/api/v1/namespaces", { metadata: { name: namespace } }),
      post(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: "default" } }),
      ...Array.from({ length: objects }, (_, at) =>
        post(secrets, {
          metadata: { name: `m${at}`, labels: { n: `${at}`, odd: `${at % 2}` } },
          stringData: { a: `${at}` },
        }),
      ),
    ],
    areas: new Map<string, Generator>([
      [
        "kinds",
        (chance) => {
          const info = chance.oneOf(kinds);
          const body = mutated(objectOf(info), info, chance);
          const validation = chance.oneOf(["", "&fieldValidation=Strict", "&fieldValidation=Ignore"]);
          return post(`${collectionOf(info)}?dryRun=All${validation}`, body);
        },
      ],
      ["patches", (chance) => patch(`${secrets}/m${chance.below(objects + 1)}`, chance)],
      ["queries", (chance) => ({ method: "GET", target: `${secrets}?${query(chance, listParameters)}` })],
      ["objects", (chance) => ({ method: "GET", target: `${secrets}/m1?${query(chance, getParameters)}` })],
      ["selectors", (chance) => ({ method: "GET", target: `${secrets}?${selector(chance)}` })],
      [
        "watches",
        (chance) => {
          const asked = `watch=1&timeoutSeconds=1&labelSelector=n&${query(chance, watchParameters)}`;
          return { method: "GET", target: `${secrets}?${asked}` };
        },
      ],
      ["types", (chance) => ({ ...typed(secrets, chance), headers: { accept: acceptHeader(chance) } })],
      ["paths", (chance) => ({ method: chance.oneOf(methods), target: path(namespace, chance) })],
    ]),
    cleanup: [{ method: "DELETE", target: `/api/v1/namespaces/${namespace}` }],
  };
}

function minimalObject(info: ResourceInfo, { name = "compared", fields, metadata }: MinimalObject): JsonObject {
  const type = { apiVersion: apiVersionOf(info), kind: info.kind };
  return { ...type, metadata: { name, ...metadata }, ...fields } as JsonObject;
}

/**
 * Returns the object with one change: a value from a random object of the kind, one of another type, a missing one or an
 * unknown one.
 */
function mutated(object: JsonObject, info: ResourceInfo, chance: Chance): JsonObject {
  const changed = cloneJson(object) as JsonObject;
  const source = randomObject(structOf(info), chance);
  const places = membersOf(source);
  const change = chance.below(4);
  if (change === 0 || places.length === 0) {
    const [parent, key] = chance.oneOf(membersOf(changed));
    delete at(changed, parent)[key];
    return changed;
  }
  const [parent, key] = chance.oneOf(places);
  const into = at(changed, parent);
  if (change === 1) into[`x${key}`] = "unknown";
  else if (change === 2) into[key] = chance.oneOf<JsonValue>([0, -1, true, "", "x y", [], {}, ["a"], { a: 1 }]);
  else into[key] = at(source, parent)[key] as JsonValue;
  return changed;
}

type Member = readonly [parent: readonly string[], key: string];

const memberDepthMax = 6;

function membersOf(object: JsonObject, parent: readonly string[] = []): Member[] {
  if (parent.length > memberDepthMax) return [];
  return Object.entries(object).flatMap(([key, value]) => [
    [parent, key] as const,
    ...(isJsonObject(value) ? membersOf(value, [...parent, key]) : []),
  ]);
}

/** Returns the object at a path. Creates it if it is missing. */
function at(object: JsonObject, place: readonly string[]): JsonObject {
  let current = object;
  for (const key of place) {
    const next = current[key];
    current = isJsonObject(next) ? next : ((current[key] = {}) as JsonObject);
  }
  return current;
}

const patchTypes = [
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
  "application/json-patch+json",
  "application/apply-patch+yaml",
];
const patchBodies: readonly JsonValue[] = [
  { data: { a: "Yg==" } },
  { data: { a: null, c: "ZA==" } },
  { data: { a: 1 } },
  { metadata: { labels: { "a b": "c" } } },
  { metadata: { name: "other" } },
  { metadata: { resourceVersion: "1" } },
  { immutable: true, stringData: { x: "y" } },
  { apiVersion: "v1", kind: "Secret", metadata: { name: "m1" }, data: { e: "f===" } },
  { apiVersion: "v9", kind: "Secret" },
  { unknown: 1 },
  [{ op: "add", path: "/data/z", value: "1" }],
  [{ op: "remove", path: "/data/none" }],
  [{ op: "test", path: "/data/a", value: "7" }],
  [{ op: "replace", path: "/metadata/labels", value: { q: "r" } }],
  [{ op: "copy", from: "/data/a", path: "/data/b" }],
  null,
  {},
  [],
  "text",
];

function patch(object: string, chance: Chance): ComparedRequest {
  const type = chance.oneOf(patchTypes);
  const manager = type.includes("apply") ? "&fieldManager=compare" : "";
  return {
    method: "PATCH",
    target: `${object}?dryRun=All${manager}${chance.oneOf(["", "", "&fieldValidation=Strict", "&force=true"])}`,
    headers: { "content-type": type },
    body: JSON.stringify(chance.oneOf(patchBodies)),
  };
}

type Parameters = Readonly<Record<string, readonly string[]>>;

const versions = ["", "0", "00", "-1", "x", "18446744073709551616", "999999999"];
const listParameters: Parameters = {
  limit: ["0", "1", "2", "-1", "x", "99999999999999999999"],
  resourceVersion: versions,
  resourceVersionMatch: ["", "Exact", "NotOlderThan", "x"],
  continue: ["", "x", "e30"],
  labelSelector: ["n", "odd=1", "!n"],
  fieldSelector: ["metadata.name=m1", "metadata.name!=m1"],
  timeoutSeconds: ["1", "x"],
  timeout: ["5s", "5", "x"],
  sendInitialEvents: ["true"],
  pretty: ["true", "x"],
};
const getParameters: Parameters = {
  resourceVersion: versions,
  resourceVersionMatch: ["Exact", "x"],
  watch: ["1", "false"],
  pretty: ["1", "0"],
  export: ["true"],
  includeObject: ["Object", "x"],
};
const watchParameters: Parameters = {
  resourceVersion: ["", "0", "x", "-1", "999999999"],
  resourceVersionMatch: ["", "Exact", "NotOlderThan", "x"],
  sendInitialEvents: ["true", "false"],
  allowWatchBookmarks: ["true", "0"],
  fieldSelector: ["metadata.name=m1", "x=y"],
  limit: ["1", "x"],
};

function query(chance: Chance, parameters: Parameters): string {
  return Object.keys(parameters)
    .filter(() => chance.below(3) === 0)
    .map((name) => `${name}=${encodeURIComponent(chance.oneOf(parameters[name] as readonly string[]))}`)
    .join("&");
}

const selectorTokens = ["n", "odd", "1", "=", "==", "!=", "!", " in ", " notin ", "(", ")", ",", ">", "<", "\\", "a b"];
const fieldTokens = ["metadata.name", "metadata.namespace", "data", "m1", "=", "==", "!=", ",", "\\", "\\,", " "];

function selector(chance: Chance): string {
  const [name, tokens] = chance.oneOf([
    ["labelSelector", selectorTokens],
    ["fieldSelector", fieldTokens],
  ] as const);
  const text = Array.from({ length: 1 + chance.below(6) }, () => chance.oneOf(tokens)).join("");
  return `${name}=${encodeURIComponent(text)}`;
}

const mediaTypes = ["application/json", "application/yaml", "application/*", "*/*", "text/html", "application/cbor"];
const mediaParameters = [
  "",
  "",
  ";as=Table;v=v1;g=meta.k8s.io",
  ";as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
  ";as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
  ";as=Table;v=v2;g=meta.k8s.io",
  ";q=0.1",
  ";q=0",
  ";stream=watch",
  ";pretty=1",
];

function acceptHeader(chance: Chance): string {
  const clause = () => chance.oneOf(mediaTypes) + chance.oneOf(mediaParameters);
  return Array.from({ length: 1 + chance.below(2) }, clause).join(",");
}

function typed(secrets: string, chance: Chance): ComparedRequest {
  return chance.oneOf<ComparedRequest>([
    { method: "GET", target: `${secrets}?labelSelector=n` },
    { method: "GET", target: `${secrets}?labelSelector=none` },
    { method: "GET", target: `${secrets}/m1` },
    { method: "GET", target: `${secrets}/none` },
    { method: "DELETE", target: `${secrets}/m1?dryRun=All` },
    { method: "GET", target: "/api" },
    { method: "GET", target: "/apis/apps" },
    { method: "POST", target: `${secrets}?dryRun=All`, body: JSON.stringify({ metadata: { name: "new" } }) },
  ]);
}

const methods = ["GET", "GET", "GET", "GET", "POST", "PUT", "PATCH", "OPTIONS"];
const segments = [
  "api",
  "apis",
  "v1",
  "apps",
  "namespaces",
  "pods",
  "secrets",
  "none",
  "status",
  "watch",
  "",
  "..",
  "a%2Fb",
];

function path(namespace: string, chance: Chance): string {
  const own = [...segments, namespace, "m1"];
  const start = chance.oneOf(["", "/api/v1", `/api/v1/namespaces/${namespace}`, "/apis/apps/v1"]);
  const rest = Array.from({ length: chance.below(4) }, () => `/${chance.oneOf(own)}`).join("");
  return `${start}${rest}` || "/";
}

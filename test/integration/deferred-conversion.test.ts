import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { systemUser } from "../../src/access/authentication/system-user.ts";
import type { Entry } from "../../src/api/entry.ts";
import { apiVersionOf } from "../../src/api/gvk.ts";
import type { JsonObject } from "../../src/api/json.ts";
import type { KubeObject } from "../../src/api/object-meta.ts";
import type { ResourceInfo, VersionConverter } from "../../src/api/scheme/resource.ts";
import { status } from "../../src/api/status.ts";
import { buildApp } from "../../src/http/app.ts";
import { builtInServer } from "../../src/http/handlers/built-in-server.ts";
import { resourceHandler } from "../../src/http/handlers/resources.ts";
import { builtInCatalog } from "../../src/kinds/built-in-catalog.ts";
import { Scheme } from "../../src/kinds/scheme.ts";
import { systemClock } from "../../src/process/clock.ts";
import type { Eventual } from "../../src/process/eventual.ts";
import { defaultStrategy } from "../../src/registry/default-strategy.ts";
import { Endpoints } from "../../src/registry/endpoints.ts";
import { type KindParts, stored } from "../../src/registry/kind.ts";
import type { HttpResponse, IncomingRequest } from "../../src/request/exchange.ts";
import { openRegistries } from "../../src/server/registries.ts";
import { CacherSet } from "../../src/storage/cacher/cacher-set.ts";
import { MemorySink } from "../../src/storage/cacher/testing.ts";
import { MemoryStore } from "../../src/storage/memory-store.ts";
import { until } from "../until.ts";

// A kind in two versions that differ in the name of one field, with a converter that answers late or not at all.
const scheme = Scheme.builtIn();
const catalog = builtInCatalog(scheme);
const store = new MemoryStore();
const cleanup = new AsyncDisposableStack();
let send: (request: IncomingRequest) => Eventual<HttpResponse>;
/** Numbers of objects in the calls of the converter. */
let calls: number[] = [];
let failure: string | undefined;

const converter: VersionConverter = {
  servesBody: ({ index }: Entry, to: ResourceInfo) => index.apiVersion === apiVersionOf(to),
  convertsAtOnce: () => false,
  async convert(objects, to) {
    calls.push(objects.length);
    await Bun.sleep(0);
    if (failure !== undefined) throw status.unconverted(failure);
    return objects.map((object) => renamed(object, to));
  },
  forStorage: renamed,
};

function renamed(object: KubeObject, to: ResourceInfo): KubeObject {
  if (object.apiVersion === apiVersionOf(to)) return object;
  const { data, ...rest } = object as unknown as JsonObject;
  const [from, into] = to.version === "v1" ? ["old", "new"] : ["new", "old"];
  const entries = Object.entries((data ?? {}) as JsonObject).map(([key, value]) => [key === from ? into : key, value]);
  return { ...rest, apiVersion: apiVersionOf(to), data: Object.fromEntries(entries) } as unknown as KubeObject;
}

const configMaps = scheme.find("", "v1", "configmaps") as ResourceInfo;
const v1: ResourceInfo = {
  ...configMaps,
  group: "example.com",
  kind: "Widget",
  listKind: "WidgetList",
  resource: "widgets",
  singular: "widget",
  shortNames: [],
  keyPrefix: "/registry/example.com/widgets/",
  subresources: new Map(),
  converter,
};
const v1beta1: ResourceInfo = { ...v1, version: "v1beta1", storedAs: { info: v1, fieldLabels: new Map() } };
const anyObject = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
/** The stored definition, on which creations depend. The kind itself is added by hand, with its own converter. */
const definition = {
  metadata: { name: `${v1.resource}.${v1.group}` },
  spec: {
    group: v1.group,
    scope: "Namespaced",
    names: { plural: v1.resource, kind: v1.kind },
    versions: [{ name: "v1", served: true, storage: true, schema: anyObject }],
  },
};
const collection = (version: string) => `/apis/example.com/${version}/namespaces/n/widgets`;

beforeAll(async () => {
  cleanup.adopt(store, (opened) => opened.close());
  const cachers = cleanup.adopt(new CacherSet({ store, clock: systemClock }), (set) => set.close());
  const authorizer = { authorize: () => ({ kind: "allow", reason: "" }) as const };
  const randomInt = (below: number) => Math.floor(Math.random() * below);
  const parts = { catalog, store, clock: systemClock, randomInt, authorizer };
  const { registries, admission } = openRegistries({ ...parts, cachers });
  const registry: KindParts["registry"] = (resource) => registries.builtIn(resource);
  const kindParts = { ...parts, tokens: {}, connections: {}, registry } as unknown as KindParts;
  const endpoints = new Endpoints(kindParts, (info) => registries.of(info));
  catalog.follow(
    (entry) => endpoints.install(entry),
    (entry) => endpoints.remove(entry),
  );
  const server = builtInServer({
    ...parts,
    typeSchema: (name) => scheme.typeSchema(name),
    cbor: false,
    minRequestTimeoutMs: 60_000,
    endpoint: (info, name) => endpoints.find(info, name),
    admission,
  });
  const notUsed = () => {
    throw new Error("nobody asks for this here");
  };
  send = buildApp({
    chain: { clock: systemClock, authenticator: { authenticate: () => systemUser }, authorizer },
    health: notUsed,
    metrics: notUsed,
    version: notUsed,
    resources: resourceHandler([server], catalog),
  });
  await call("POST", "/api/v1/namespaces", { metadata: { name: "n" } });
  await call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
  const kind = { group: v1.group, resource: v1.resource, endpoint: stored(defaultStrategy), subresources: new Map() };
  catalog.add({ kind, stored: v1, served: [v1, v1beta1] });
});

beforeEach(() => {
  calls = [];
  failure = undefined;
});

afterAll(() => cleanup.disposeAsync());

async function answerTo(method: string, rawPath: string, body?: unknown, type = "application/json") {
  return send({
    method,
    rawPath,
    headers: [["accept", "application/json"], ...(body === undefined ? [] : [["content-type", type] as const])],
    peer: { kind: "none" },
    remoteAddress: "127.0.0.1",
    httpVersion: "1.1",
    body: async () => Buffer.from(body === undefined ? "" : JSON.stringify(body)),
    signal: new AbortController().signal,
    isAborted: false,
  });
}

// biome-ignore lint/suspicious/noExplicitAny: answers are read member by member
async function call(method: string, path: string, body?: unknown, type?: string): Promise<any> {
  const answer = await answerTo(method, path, body, type);
  if (answer.kind === "stream") throw new Error(`${path} is a stream`);
  const chunks: Uint8Array[] = [];
  if (answer.body instanceof Uint8Array) chunks.push(answer.body);
  else for await (const chunk of answer.body) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString());
}

function widget(version: string, name: string, data: object) {
  return { apiVersion: `example.com/${version}`, kind: "Widget", metadata: { name }, data };
}

test("an object is written and read in each of its versions", async () => {
  const created = await call("POST", collection("v1beta1"), widget("v1beta1", "a", { old: "1" }));
  expect(created).toMatchObject({ apiVersion: "example.com/v1beta1", data: { old: "1" } });
  expect((await call("GET", `${collection("v1")}/a`)).data).toEqual({ new: "1" });
  expect((await call("GET", `${collection("v1beta1")}/a`)).data).toEqual({ old: "1" });
  const changed = await call("PUT", `${collection("v1beta1")}/a`, widget("v1beta1", "a", { old: "2" }));
  expect(changed.data).toEqual({ old: "2" });
  const patch = { data: { old: "3" } };
  const patched = await call("PATCH", `${collection("v1beta1")}/a`, patch, "application/merge-patch+json");
  expect(patched.data).toEqual({ old: "3" });
  const applied = await call(
    "PATCH",
    `${collection("v1beta1")}/a?fieldManager=m&force=true`,
    widget("v1beta1", "a", { old: "4" }),
    "application/apply-patch+yaml",
  );
  expect(applied).toMatchObject({ apiVersion: "example.com/v1beta1", data: { old: "4" } });
  const { managedFields } = (await call("GET", `${collection("v1")}/a`)).metadata;
  expect(managedFields).toContainEqual(
    expect.objectContaining({ manager: "m", operation: "Apply", apiVersion: "example.com/v1beta1" }),
  );
  expect((await call("DELETE", `${collection("v1beta1")}/a`)).status).toBe("Success");
});

test("a dry run answers in the version of the request", async () => {
  const created = await call("POST", `${collection("v1beta1")}?dryRun=All`, widget("v1beta1", "d", { old: "1" }));
  expect(created).toMatchObject({ apiVersion: "example.com/v1beta1", data: { old: "1" } });
});

test("a list converts all items in one call, and keeps them", async () => {
  for (const name of ["l1", "l2", "l3"]) await call("POST", collection("v1"), widget("v1", name, { new: name }));
  calls = [];
  const { apiVersion, items } = await call("GET", collection("v1beta1"));
  expect(apiVersion).toBe("example.com/v1beta1");
  expect(items.map(({ data }: { data: object }) => data)).toEqual([{ old: "l1" }, { old: "l2" }, { old: "l3" }]);
  expect(calls).toEqual([3]);
  await call("GET", collection("v1beta1"));
  await call("GET", collection("v1"));
  expect(calls).toEqual([3]);
  await call("DELETE", collection("v1"));
});

test("a watch sends its events in the version of the request", async () => {
  await call("POST", collection("v1"), widget("v1", "w", { new: "1" }));
  const answer = await answerTo("GET", `${collection("v1beta1")}?watch=true`);
  if (answer.kind !== "stream") throw new Error("a watch is a stream");
  const sink = new MemorySink();
  const run = answer.run(sink);
  const events = () =>
    Buffer.concat(sink.chunks)
      .toString()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  await until(() => sink.chunks.length > 0);
  await call("PUT", `${collection("v1")}/w`, widget("v1", "w", { new: "2" }));
  await until(() => events().length > 1);
  failure = "the converter is gone";
  await call("PUT", `${collection("v1")}/w`, widget("v1", "w", { new: "3" }));
  await run;
  expect(events()).toMatchObject([
    { type: "ADDED", object: { apiVersion: "example.com/v1beta1", data: { old: "1" } } },
    { type: "MODIFIED", object: { apiVersion: "example.com/v1beta1", data: { old: "2" } } },
    { type: "ERROR", object: { kind: "Status", message: "the converter is gone", code: 500 } },
  ]);
  expect(await call("GET", `${collection("v1beta1")}/w`)).toMatchObject({ kind: "Status", code: 500 });
  expect(await call("GET", collection("v1beta1"))).toMatchObject({ message: "the converter is gone", code: 500 });
  expect((await call("GET", `${collection("v1")}/w`)).data).toEqual({ new: "3" });
});

import { afterAll, beforeAll, expect, test } from "bun:test";
import { systemUser } from "../../src/access/authentication/system-user.ts";
import type { ResourceInfo } from "../../src/api/scheme/resource.ts";
import { startNamespaceDeletion } from "../../src/controllers/namespace-deletion.ts";
import { FakeApis } from "../../src/http/aggregation/testing.ts";
import { type AppPlugin, buildApp } from "../../src/http/app.ts";
import { discoveryRoute, type Route } from "../../src/http/discovery/discovery-route.ts";
import { MergedDiscovery } from "../../src/http/discovery/merged-discovery.ts";
import { builtInServer } from "../../src/http/handlers/built-in-server.ts";
import { resourceHandler } from "../../src/http/handlers/resources.ts";
import { openApiRoute } from "../../src/http/openapi/openapi-route.ts";
import { builtInCatalog } from "../../src/kinds/built-in-catalog.ts";
import { Scheme } from "../../src/kinds/scheme.ts";
import { systemClock } from "../../src/process/clock.ts";
import type { Eventual } from "../../src/process/eventual.ts";
import type { CatalogEntry } from "../../src/registry/catalog.ts";
import { defaultStrategy, statusStrategy } from "../../src/registry/default-strategy.ts";
import { Endpoints } from "../../src/registry/endpoints.ts";
import { type KindParts, stored, subresource } from "../../src/registry/kind.ts";
import type { HttpResponse, IncomingRequest } from "../../src/request/exchange.ts";
import { openRegistries } from "../../src/server/registries.ts";
import { CacherSet } from "../../src/storage/cacher/cacher-set.ts";
import { MemoryStore } from "../../src/storage/memory-store.ts";
import { until } from "../until.ts";

const rounds = 20;
const scheme = Scheme.builtIn();
const catalog = builtInCatalog(scheme);
const store = new MemoryStore();
const cleanup = new AsyncDisposableStack();
let send: (request: IncomingRequest) => Eventual<HttpResponse>;

const configMaps = scheme.find("", "v1", "configmaps") as ResourceInfo;
const widgetsInfo: ResourceInfo = {
  ...configMaps,
  group: "example.com",
  kind: "Widget",
  resource: "widgets",
  singular: "widget",
  shortNames: ["wd"],
  keyPrefix: "/registry/example.com/widgets/",
  subresources: new Map([
    [
      "status",
      {
        name: "status",
        gvk: { group: "example.com", version: "v1", kind: "Widget" },
        verbs: ["get", "patch", "update"],
        form: configMaps.form,
      },
    ],
  ]),
};
const widgets: CatalogEntry = {
  kind: {
    group: "example.com",
    resource: "widgets",
    endpoint: stored(defaultStrategy),
    subresources: new Map([["status", subresource(statusStrategy(defaultStrategy))]]),
  },
  stored: widgetsInfo,
  served: [widgetsInfo],
};

beforeAll(async () => {
  cleanup.adopt(store, (opened) => opened.close());
  const cachers = cleanup.adopt(new CacherSet({ store, clock: systemClock }), (set) => set.close());
  const allow = { authorize: () => ({ kind: "allow", reason: "" }) as const };
  const randomInt = (below: number) => Math.floor(Math.random() * below);
  const parts = { catalog, store, clock: systemClock, randomInt, authorizer: allow };
  const { registries, admission } = openRegistries({ ...parts, cachers });
  // This test does not use connections and tokens.
  const registry: KindParts["registry"] = (resource) => registries.builtIn(resource);
  const kindParts = { ...parts, tokens: {}, connections: {}, registry } as unknown as KindParts;
  const endpoints = new Endpoints(kindParts, (info) => registries.of(info));
  catalog.follow(
    (entry) => endpoints.install(entry),
    (entry) => endpoints.remove(entry),
  );
  const typeSchema = (name: string) => scheme.typeSchema(name);
  send = buildApp({
    chain: { clock: systemClock, authenticator: { authenticate: () => systemUser }, authorizer: allow },
    health: notUsed,
    metrics: notUsed,
    version: notUsed,
    resources: resourceHandler(
      [
        builtInServer({
          ...parts,
          typeSchema,
          cbor: false,
          minRequestTimeoutMs: 60_000,
          endpoint: (info, name) => endpoints.find(info, name),
          admission,
        }),
      ],
      catalog,
    ),
    plugins: [
      pluginOf(
        "discovery",
        discoveryRoute(
          new MergedDiscovery({ catalog, apis: new FakeApis(), remote: { versions: () => [], generation: () => 0 } }),
          () => "localhost",
        ),
      ),
      pluginOf("openapi", openApiRoute({ catalog, typeOf: typeSchema, version: "v1.36.0" }, systemClock)),
    ],
  });
  cleanup.use(
    startNamespaceDeletion({
      registries,
      namespaces: registries.builtIn({ group: "", resource: "namespaces" }),
      store,
      clock: systemClock,
      onError(error) {
        throw error;
      },
    }),
  );
  await must("POST", "/api/v1/namespaces", { metadata: { name: "n" } });
});

afterAll(() => cleanup.disposeAsync());

function notUsed(): never {
  throw new Error("nobody asks for this here");
}

function pluginOf(name: string, route: Route): AppPlugin {
  return {
    name,
    get paths() {
      return route.paths;
    },
    handle: route.handle,
  };
}

function requestOf(method: string, rawPath: string, body?: unknown): IncomingRequest {
  return {
    method,
    rawPath,
    headers: [
      ["accept", "application/json"],
      ...(body === undefined ? [] : [["content-type", "application/json"] as const]),
    ],
    peer: { kind: "none" },
    remoteAddress: "127.0.0.1",
    httpVersion: "1.1",
    body: async () => Buffer.from(body === undefined ? "" : JSON.stringify(body)),
    signal: new AbortController().signal,
    isAborted: false,
  };
}

async function call(method: string, path: string, body?: unknown): Promise<{ code: number; text: string }> {
  const answer = await send(requestOf(method, path, body));
  if (answer.kind === "stream") throw new Error(`${path} is a stream`);
  const chunks: Uint8Array[] = [];
  if (answer.body instanceof Uint8Array) chunks.push(answer.body);
  else for await (const chunk of answer.body) chunks.push(chunk);
  return { code: answer.code, text: Buffer.concat(chunks).toString() };
}

async function must(method: string, path: string, body?: unknown): Promise<any> {
  const { code, text } = await call(method, path, body);
  if (code >= 300) throw new Error(`${method} ${path}: ${code} ${text}`);
  return JSON.parse(text);
}

interface Watch {
  /** The names of all objects added so far. */
  readonly added: string[];
  /** Resolves when the server ends the watch. */
  readonly ended: Promise<void>;
  readonly stop: () => void;
}

async function watch(path: string): Promise<Watch> {
  const answer = await send(requestOf("GET", `${path}?watch=true`));
  if (answer.kind !== "stream") throw new Error(`${path} cannot be watched`);
  const added: string[] = [];
  const stopping = new AbortController();
  const ended = answer.run({
    write(chunk) {
      for (const line of Buffer.from(chunk).toString().split("\n")) {
        if (line === "") continue;
        const { type, object } = JSON.parse(line);
        if (type === "ADDED") added.push(object.metadata.name);
        else if (type === "ERROR") throw new Error(line);
      }
      return true;
    },
    drained: async () => {},
    backlogBytes: 0,
    signal: stopping.signal,
  });
  return { added, ended, stop: () => stopping.abort() };
}

const widgetsPath = "/apis/example.com/v1/namespaces/n/widgets";
const mapsPath = "/api/v1/namespaces/n/configmaps";
const named = (name: string) => ({ metadata: { name } });

/** Writes and reads a built-in kind without a pause. Every answer must be correct. */
async function load(prefix: string, isOver: () => boolean): Promise<string[]> {
  const names: string[] = [];
  while (!isOver()) {
    const name = `${prefix}-${names.length}`;
    await must("POST", mapsPath, named(name));
    await must("GET", `${mapsPath}/${name}`);
    names.push(name);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return names;
}

test("a kind is added and removed while requests and a watch of another kind run", async () => {
  let isOver = false;
  const others = await watch(mapsPath);
  const writers = ["a", "b"].map((prefix) => load(prefix, () => isOver));
  for (let round = 0; round < rounds; round++) {
    expect((await call("GET", widgetsPath)).code).toBe(404);
    expect((await call("GET", "/apis/example.com/v1")).code).toBe(404);
    catalog.add(widgets);
    const [watching] = await Promise.all([watch(widgetsPath), must("POST", widgetsPath, named(`w-${round}`))]);
    await until(() => watching.added.includes(`w-${round}`));
    const list = await must("GET", widgetsPath);
    expect(list).toMatchObject({ kind: "ConfigMapList", apiVersion: "example.com/v1" });
    // Objects stored before the kind was removed are there again.
    expect(list.items).toHaveLength(round + 1);
    const status = await must("GET", `${widgetsPath}/w-0/status`);
    expect(status).toMatchObject({ kind: "Widget", apiVersion: "example.com/v1" });
    const { resources } = await must("GET", "/apis/example.com/v1");
    expect(resources.map(({ name }: { name: string }) => name)).toEqual(["widgets", "widgets/status"]);
    catalog.remove(widgets);
    await watching.ended;
  }
  isOver = true;
  const names = (await Promise.all(writers)).flat();
  expect(names.length).toBeGreaterThan(0);
  await until(() => others.added.length >= names.length);
  expect(others.added.toSorted()).toEqual(names.toSorted());
  others.stop();
  await others.ended;
});

test("discovery and OpenAPI list the current kinds", async () => {
  const groups = async () => (await must("GET", "/apis")).groups.map(({ name }: { name: string }) => name);
  const documents = async () => Object.keys((await must("GET", "/openapi/v3")).paths);
  expect(await groups()).not.toContain("example.com");
  expect(await documents()).not.toContain("apis/example.com/v1");
  catalog.add(widgets);
  expect((await groups()).at(-1)).toBe("example.com");
  expect(await documents()).toContain("apis/example.com/v1");
  const { paths } = await must("GET", "/openapi/v3/apis/example.com/v1");
  expect(Object.keys(paths)).toContain("/apis/example.com/v1/namespaces/{namespace}/widgets/{name}");
  catalog.remove(widgets);
  expect(await groups()).not.toContain("example.com");
  expect((await call("GET", "/openapi/v3/apis/example.com/v1")).code).toBe(404);
});

test("a quota counts the kind, and deleting a namespace deletes its objects", async () => {
  catalog.add(widgets);
  await must("POST", "/api/v1/namespaces", named("limited"));
  const hard = { "count/widgets.example.com": "2" };
  await must("POST", "/api/v1/namespaces/limited/resourcequotas", { ...named("q"), spec: { hard } });
  const path = "/apis/example.com/v1/namespaces/limited/widgets";
  for (const name of ["x", "y"]) await must("POST", path, named(name));
  const refused = await call("POST", path, named("z"));
  expect(refused.code).toBe(403);
  expect(refused.text).toContain("exceeded quota: q");
  await must("DELETE", "/api/v1/namespaces/limited");
  await until(async () => (await call("GET", "/api/v1/namespaces/limited")).code === 404);
  expect(store.scan("/registry/example.com/widgets/limited/")).toEqual([]);
  catalog.remove(widgets);
});

test("a resource, a kind and a prefix belong to one entry", () => {
  catalog.add(widgets);
  expect(() => catalog.add(widgets)).toThrow("served already");
  expect(() => catalog.add({ ...widgets, served: [] })).toThrow("belong to another kind");
  catalog.remove(widgets);
  catalog.remove(widgets);
  expect(catalog.findPrefix(widgetsInfo.keyPrefix)).toBeUndefined();
});

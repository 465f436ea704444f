import { afterAll, beforeAll, expect, test } from "bun:test";
import { systemUser } from "../../../src/access/authentication/system-user.ts";
import type { Attributes } from "../../../src/access/authorization/attributes.ts";
import type { Key } from "../../../src/api/entry.ts";
import { parseFieldSelector, requireFieldValue } from "../../../src/api/field-selector.ts";
import { isJsonObject, type JsonObject } from "../../../src/api/json.ts";
import { buildChain } from "../../../src/http/filters/chain.ts";
import { builtInServer } from "../../../src/http/handlers/built-in-server.ts";
import { resourceHandler } from "../../../src/http/handlers/resources.ts";
import { builtInCatalog } from "../../../src/kinds/built-in-catalog.ts";
import { Scheme } from "../../../src/kinds/scheme.ts";
import { systemClock } from "../../../src/process/clock.ts";
import type { Registries } from "../../../src/registry/registries.ts";
import type { HttpResponse, IncomingRequest } from "../../../src/request/exchange.ts";
import type { UserInfo } from "../../../src/request/user-info.ts";
import { openRegistries } from "../../../src/server/registries.ts";
import { CacherSet } from "../../../src/storage/cacher/cacher-set.ts";
import { MemoryStore } from "../../../src/storage/memory-store.ts";

/**
 * Tests that the authorizer's question, the handler's answer and the key that was read concern the same object for any
 * path. `HOSTILE_PATHS` sets the number of paths, and `SEED` repeats a run.
 */
const paths = Number(Bun.env["HOSTILE_PATHS"] ?? 10_000);
const seed = Number(Bun.env["SEED"] ?? Date.now() % 1_000_000);

const names = ["x", "xy", "a", "ab", "pods", "namespaces", "secrets", "watch", "status"];
const namespaces = ["a", "ab", "a-b", "pods", "watch"];
const kinds = [
  { group: "", resource: "configmaps", kind: "ConfigMap" },
  { group: "", resource: "secrets", kind: "Secret" },
  { group: "", resource: "serviceaccounts", kind: "ServiceAccount" },
  { group: "coordination.k8s.io", resource: "leases", kind: "Lease" },
];

const store = new MemoryStore();
const keysRead = new Set<Key>();
let asked: Attributes[] = [];
let answer: (rawPath: string) => Promise<HttpResponse>;
let registries: Registries;
let cachers: CacherSet;

beforeAll(async () => {
  const scheme = Scheme.builtIn({ runtimeConfig: new Map(), gateEnabled: () => false });
  cachers = new CacherSet({ store, clock: systemClock });
  const catalog = builtInCatalog(scheme);
  const opened = openRegistries({
    catalog,
    store,
    cachers,
    clock: systemClock,
    randomInt: () => 0,
    admissionPlugins: [],
  });
  registries = opened.registries;
  const context = { user: systemUser, manager: "test", dryRun: false, warn() {} };
  const inNamespaces = namespaces.flatMap((namespace) => names.map((name) => ({ namespace, name })));
  await Promise.all([
    ...[...names, ...namespaces].map((name) => {
      const registry = registries.builtIn({ group: "", resource: "namespaces" });
      return registry
        .create({ apiVersion: "v1", kind: "Namespace", metadata: { name } }, "", context)
        .catch(() => undefined);
    }),
    ...kinds.flatMap(({ group, resource, kind }) =>
      inNamespaces.map(({ namespace, name }) => {
        const apiVersion = group === "" ? "v1" : `${group}/v1`;
        const more = kind === "Lease" ? { spec: {} } : {};
        const object = { apiVersion, kind, metadata: { name, namespace }, ...more };
        return registries.builtIn({ group, resource }).create(object, namespace, context);
      }),
    ),
  ]);
  const get = store.get.bind(store);
  store.get = (key) => {
    keysRead.add(key);
    return get(key);
  };
  const chain = buildChain(
    {
      clock: systemClock,
      authenticator: { authenticate: () => systemUser },
      authorizer: {
        authorize(_user: UserInfo, attributes: Attributes) {
          asked.push(attributes);
          return { kind: "allow", reason: "" };
        },
      },
    },
    resourceHandler(
      [
        builtInServer({
          catalog,
          typeSchema: (name) => scheme.typeSchema(name),
          store,
          clock: systemClock,
          cbor: false,
          minRequestTimeoutMs: 1,
          randomInt: () => 0,
          authorizer: { authorize: () => ({ kind: "deny", reason: "" }) },
          endpoint: (info, subresource) =>
            subresource === "" && !info.virtual ? { kind: "stored", registry: registries.of(info) } : undefined,
          admission: opened.admission,
        }),
      ],
      catalog,
    ),
  );
  answer = async (rawPath) => chain(requestOf(rawPath));
});
afterAll(async () => {
  cachers.close();
  await store.close();
});

function requestOf(rawPath: string): IncomingRequest {
  return {
    method: "GET",
    rawPath,
    headers: [["accept", "application/json"]],
    peer: { kind: "none" },
    remoteAddress: "127.0.0.1",
    httpVersion: "1.1",
    body: async () => new Uint8Array(),
    signal: new AbortController().signal,
    isAborted: false,
  };
}

/** mulberry32 */
function randomFrom(start: number): (below: number) => number {
  let state = start;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

const odd = [
  "..",
  ".",
  "",
  "%2e%2e",
  "%2E%2e",
  "%252e%252e",
  "%2f",
  "..%2f",
  "%5c",
  "\\",
  "%00",
  "x%00",
  ";x",
  "x;y",
  "%c0%ae",
  "%",
  "%zz",
  "#",
  "?",
  "%3f",
  "é",
  "%C3%A9",
  "X",
  "API",
  "a%2fb",
  "x%20",
  "x+",
  "x%2Fstatus",
  "*",
  "~",
  "namespaces",
  "watch",
  "proxy",
];
const queries = [
  "",
  "",
  "",
  "?fieldSelector=metadata.name%3Dx",
  "?fieldSelector=metadata.name%3Dx,metadata.name%3Da",
  "?fieldSelector=metadata.name!%3Dx",
  "?fieldSelector=metadata.namespace%3Dab",
  "?fieldSelector=metadata.name%3D..%2Fab%2Fx",
  "?fieldSelector=metadata.name%3Da&fieldSelector=metadata.name%3Dx",
  "?namespace=ab",
  "?resourceVersion=0",
  "?limit=1",
];

function hostilePath(random: (below: number) => number): string {
  const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;
  const { group, resource } = pick(kinds);
  const segments = group === "" ? ["api", "v1"] : ["apis", group, "v1"];
  if (random(8) === 0) segments.push("watch".slice(0, 5 * random(2)));
  if (random(4) > 0) segments.push("namespaces", pick(namespaces));
  segments.push(resource);
  if (random(2) === 0) segments.push(pick(names));
  if (random(8) === 0) segments.push(pick(["status", "log", "x"]));
  for (let changes = random(4); changes > 0; changes--) {
    const at = random(segments.length + 1);
    const change = random(5);
    if (change === 0) segments.splice(at, 0, pick(odd));
    else if (change === 1) segments.splice(at, 1);
    else if (change === 2) segments.splice(at, 1, pick([...odd, ...names, ...namespaces, "secrets"]));
    else if (change === 3) segments[at] = encodeSome(segments[at] ?? "", random);
    else segments.push(pick(odd));
  }
  return `/${segments.join("/")}${random(10) === 0 ? "/" : ""}${pick(queries)}`;
}

function encodeSome(text: string, random: (below: number) => number): string {
  return [...text].map((char) => (random(2) === 0 ? `%${char.charCodeAt(0).toString(16)}` : char)).join("");
}

test(`attack 36, CVE-2022-3162: authorizer, handler and key agree on ${paths} hostile paths (SEED=${seed})`, async () => {
  const random = randomFrom(seed);
  const outcomes = new Map<number, number>();
  for (let at = 0; at < paths; at++) {
    const path = hostilePath(random);
    asked = [];
    keysRead.clear();
    const response = await answer(path);
    const code = lacksResource(response) ? 400 : response.code;
    outcomes.set(code, (outcomes.get(code) ?? 0) + 1);
    const problem = disagreement(response);
    if (problem !== undefined) expect({ path, problem, asked }).toEqual({ path, problem: undefined, asked } as never);
  }
  // Neither all paths are refused nor are all harmless.
  for (const code of [200, 400, 404]) expect(outcomes.get(code) ?? 0).toBeGreaterThan(paths / 50);
  expect([...outcomes.keys()].filter((code) => code >= 500)).toEqual([]);
});

/** Upstream answers a path that ends before its resource with a 500. */
function lacksResource(response: HttpResponse): boolean {
  if (response.code !== 500 || response.kind !== "reply") return false;
  return new TextDecoder().decode(bytesOf(response)).includes("unable to determine kind and namespace from url");
}

function disagreement(response: HttpResponse): string | undefined {
  const [attributes] = asked;
  if (asked.length > 1) return "asked twice";
  if (attributes === undefined) return response.code >= 400 && keysRead.size === 0 ? undefined : "not asked";
  if (attributes.kind === "nonResource") {
    return response.code === 404 && keysRead.size === 0 ? undefined : "a path that is no resource was answered as one";
  }
  const registry = registries.find(attributes);
  for (const key of keysRead) {
    if (registry === undefined) return `read ${key} of a resource that is not served`;
    if (key !== registry.keyOf(attributes.namespace, attributes.name)) return `read ${key}`;
  }
  if (response.code !== 200 || response.kind !== "reply") return undefined;
  const document = JSON.parse(new TextDecoder().decode(bytesOf(response))) as JsonObject;
  const items = Array.isArray(document["items"]) ? document["items"].filter(isJsonObject) : [document];
  return items.map((item) => itemProblem(item, attributes)).find((problem) => problem !== undefined);
}

function itemProblem(
  item: JsonObject,
  { verb, namespace, name, resource, query }: Attributes & { kind: "resource" },
): string | undefined {
  const metadata = item["metadata"] as { namespace?: string; name?: string; uid?: string };
  const inNamespace = resource === "namespaces" ? "" : (metadata.namespace ?? "");
  if (resource !== "namespaces" && namespace !== "" && inNamespace !== namespace) return `of namespace ${inNamespace}`;
  if (name !== "" && metadata.name !== name) return `of name ${metadata.name}`;
  const selector = verb === "list" ? query?.get("fieldSelector")?.[0] : undefined;
  const pinned = selector === undefined ? undefined : requireFieldValue(parseFieldSelector(selector), "metadata.name");
  return pinned !== undefined && metadata.name !== pinned ? `of name ${metadata.name}, not ${pinned}` : undefined;
}

function bytesOf({ body }: Extract<HttpResponse, { kind: "reply" }>): Uint8Array {
  if (body instanceof Uint8Array) return body;
  return Buffer.concat([...(body as Iterable<Uint8Array>)]);
}

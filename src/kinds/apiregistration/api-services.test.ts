import { afterEach, beforeEach, expect, test } from "bun:test";
import type { APIServiceSpec } from "../../api/types/apiregistration-v1.ts";
import { systemClock } from "../../process/clock.ts";
import { admissionChain } from "../../registry/admission.ts";
import { strategyOf } from "../../registry/kind.ts";
import { Registries } from "../../registry/registries.ts";
import type { Registry } from "../../registry/registry.ts";
import { removeObject } from "../../registry/remove-object.ts";
import { serverContext } from "../../registry/server-context.ts";
import { CacherSet } from "../../storage/cacher/cacher-set.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { builtInCatalog } from "../built-in-catalog.ts";
import { Scheme } from "../scheme.ts";
import { apiService } from "./api-service.ts";
import { ApiServices } from "./api-services.ts";

let store: MemoryStore;
let registry: Registry;
let apis: ApiServices;
let parts: AsyncDisposableStack;

beforeEach(() => {
  parts = new AsyncDisposableStack();
  store = new MemoryStore();
  parts.defer(() => store.close());
  const cachers = parts.adopt(new CacherSet({ store, clock: systemClock }), (set) => set.close());
  registry = new Registries({
    catalog: builtInCatalog(Scheme.builtIn()),
    store,
    cachers,
    clock: systemClock,
    randomInt: () => 0,
    admission: admissionChain([]),
  }).builtIn(apiService);
  apis = new ApiServices(registry, store);
});

afterEach(() => parts.disposeAsync());

async function create(
  name: string,
  groupPriorityMinimum: number,
  versionPriority: number,
  more: APIServiceSpec | object = {},
) {
  const dot = name.indexOf(".");
  const spec = {
    version: name.slice(0, dot),
    group: name.slice(dot + 1),
    groupPriorityMinimum,
    versionPriority,
    ...more,
  };
  await registry.create({ apiVersion: "apiregistration.k8s.io/v1", kind: "APIService", metadata: { name }, spec }, "", {
    ...serverContext,
  });
}

const orderOf = () => apis.groups().map(({ group, versions }) => [group, ...versions.map(({ version }) => version)]);

test("groups come by their highest priority, then by name; versions by priority, then as clients prefer them", async () => {
  await create("v1.b.example.com", 100, 10);
  await create("v1.a.example.com", 100, 10);
  await create("v1beta1.late.example.com", 10, 100);
  await create("v2.late.example.com", 2000, 10);
  await create("v1alpha1.late.example.com", 10, 10);
  await create("v10.late.example.com", 10, 10);
  await create("v1.", 18_000, 1);
  expect(orderOf()).toEqual([
    ["", "v1"],
    ["late.example.com", "v1beta1", "v10", "v2", "v1alpha1"],
    ["a.example.com", "v1"],
    ["b.example.com", "v1"],
  ]);
});

test("a group version has a service, or is served here", async () => {
  await create("v1.here.example.com", 100, 10);
  const caBundle = Buffer.from("pem").toString("base64");
  await create("v1.there.example.com", 100, 10, { caBundle, service: { namespace: "n", name: "s", port: 8443 } });
  expect(apis.find("here.example.com", "v1")).toMatchObject({ remote: undefined, isAvailable: true });
  expect(apis.find("there.example.com", "v1")?.remote).toEqual({
    namespace: "n",
    name: "s",
    port: 8443,
    authorities: "pem",
    insecure: false,
  });
  expect(apis.find("there.example.com", "v2")).toBeUndefined();
});

test("changes are visible at once, and followers hear of them", async () => {
  const seen: unknown[] = [];
  using _ = apis.follow(() => seen.push(apis.find("g.example.com", "v1")?.isAvailable));
  await create("v1.g.example.com", 100, 10, { service: { namespace: "n", name: "s", port: 443 } });
  const before = apis.generation();
  const available = { type: "Available", status: "True" };
  const options = { strategy: strategyOf(apiService, "status"), subresource: "status" };
  const change = (old: object) => ({ ...old, status: { conditions: [available] } }) as never;
  await registry.update("", "v1.g.example.com", change, serverContext, options);
  expect(apis.generation()).toBeGreaterThan(before);
  const object = registry.current("", "v1.g.example.com");
  if (object !== undefined) await removeObject(registry, object, serverContext);
  expect(seen).toEqual([false, true, undefined]);
});

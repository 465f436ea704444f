import { afterEach, beforeEach, expect, test } from "bun:test";
import type { KubeObject } from "../../api/object-meta.ts";
import type { APIService } from "../../api/types/apiregistration-v1.ts";
import { apiService } from "../../kinds/apiregistration/api-service.ts";
import { ApiServices } from "../../kinds/apiregistration/api-services.ts";
import { automaticApiService, type Upkeep } from "../../kinds/apiregistration/automatic-api-service.ts";
import { builtInCatalog } from "../../kinds/built-in-catalog.ts";
import { Scheme } from "../../kinds/scheme.ts";
import { systemClock } from "../../process/clock.ts";
import { admissionChain } from "../../registry/admission.ts";
import { Registries } from "../../registry/registries.ts";
import type { Registry } from "../../registry/registry.ts";
import { serverContext } from "../../registry/server-context.ts";
import { CacherSet } from "../../storage/cacher/cacher-set.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { ensureBuiltInApiServices, settleApiService } from "./local-api-services.ts";

let store: MemoryStore;
let registry: Registry;
let parts: AsyncDisposableStack;

beforeEach(() => {
  parts = new AsyncDisposableStack();
  store = new MemoryStore();
  parts.defer(() => store.close());
  const cachers = parts.adopt(new CacherSet({ store, clock: systemClock }), (set) => set.close());
  const catalog = builtInCatalog(Scheme.builtIn());
  const more = { randomInt: () => 0, admission: admissionChain([]) };
  registry = new Registries({ catalog, store, cachers, clock: systemClock, ...more }).builtIn(apiService);
});

afterEach(() => parts.disposeAsync());

const batch = { group: "batch", version: "v1" };
const name = "v1.batch";
const priority = { group: 17_400, version: 15 };
const otherPriority = { group: 1, version: 1 };

function make(upkeep: Upkeep | undefined, ranks = priority): Promise<unknown> {
  const object = automaticApiService(batch, ranks, upkeep ?? "true");
  if (upkeep === undefined) delete object.metadata.labels;
  return registry.create(object as unknown as KubeObject, "", serverContext);
}

const stored = () => registry.current("", name) as APIService | undefined;

test.each<
  [what: string, present: Upkeep | "unmanaged" | "none", isWanted: boolean, among: Upkeep[], rank: number | undefined]
>([
  ["nothing, where nothing is wanted", "none", false, ["onstart", "true"], undefined],
  ["a missing one", "none", true, ["true"], 17_400],
  ["one that somebody has made", "unmanaged", true, ["onstart", "true"], 1],
  ["one that somebody has made and nobody wants", "unmanaged", false, ["onstart", "true"], 1],
  ["an outdated one", "true", true, ["true"], 17_400],
  ["one that nobody wants any more", "true", false, ["true"], undefined],
  ["one of the start, later", "onstart", true, ["true"], 1],
  ["one of the start that nobody wants, later", "onstart", false, ["true"], 1],
  ["one of the start, at the start", "onstart", true, ["onstart", "true"], 17_400],
])("settleApiService() looks at %s", async (_what, present, isWanted, among, rank) => {
  if (present !== "none") await make(present === "unmanaged" ? undefined : present, otherPriority);
  const wanted = isWanted ? automaticApiService(batch, priority, "true") : undefined;
  await settleApiService(registry, name, wanted, among);
  expect(stored()?.spec?.groupPriorityMinimum).toBe(rank as number);
});

test("settleApiService() writes nothing when all is as it should be", async () => {
  await make("true");
  const { revision } = store;
  await settleApiService(registry, name, automaticApiService(batch, priority, "true"), ["true"]);
  expect(store.revision).toBe(revision);
});

test("ensureBuiltInApiServices() makes those of served versions and removes those of others", async () => {
  await make("onstart");
  const served = [
    { group: "", version: "v1" },
    { group: "apps", version: "v1" },
    { group: "apiregistration.k8s.io", version: "v1" },
    { group: "unknown.example.com", version: "v1" },
  ];
  const apis = new ApiServices(registry, store);
  await ensureBuiltInApiServices({ registry, apis }, served);
  expect(apis.groups().map(({ group }) => group)).toEqual(["", "apps"]);
  expect(apis.find("apps", "v1")?.isAvailable).toBe(true);
});

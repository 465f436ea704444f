import { expect, test } from "bun:test";
import { systemUser } from "../access/authentication/system-user.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { builtInCatalog } from "../kinds/built-in-catalog.ts";
import { Scheme } from "../kinds/scheme.ts";
import { systemClock } from "../process/clock.ts";
import type { Registry } from "../registry/registry.ts";
import { openRegistries } from "../server/registries.ts";
import { CacherSet } from "../storage/cacher/cacher-set.ts";
import { MemoryStore } from "../storage/memory-store.ts";
import { DefaultFlowControl } from "./default-flow-control.ts";

const annotation = "apf.kubernetes.io/autoupdate-spec";
const context = { user: systemUser, manager: "test", dryRun: false, warn() {} };

async function started() {
  const store = new MemoryStore({ clock: systemClock });
  const cachers = new CacherSet({ store, clock: systemClock });
  const registries = openRegistries({
    catalog: builtInCatalog(Scheme.builtIn()),
    store,
    cachers,
    clock: systemClock,
    randomInt: () => 0,
  }).registries;
  const defaults = new DefaultFlowControl(registries);
  await defaults.ensure();
  const group = "flowcontrol.apiserver.k8s.io";
  const levels = registries.find({ group, resource: "prioritylevelconfigurations" }) as Registry;
  const schemas = registries.find({ group, resource: "flowschemas" }) as Registry;
  const spec = (name: string) => levels.current("", name)?.["spec"] as any;
  const change = (name: string, update: (level: any) => void) =>
    levels.update("", name, (old) => (update(old), old), context);
  return { store, defaults, levels, schemas, spec, change };
}

test("a second check writes nothing", async () => {
  const { store, defaults } = await started();
  const { revision } = store;
  await defaults.ensure();
  expect(store.revision).toBe(revision);
});

test("a suggested object is restored unless its annotation forbids it", async () => {
  const { defaults, spec, change } = await started();
  await change("system", ({ spec: { limited } }) => (limited.nominalConcurrencyShares = 7));
  await defaults.ensure();
  expect(spec("system").limited.nominalConcurrencyShares).toBe(30);
  await change("system", ({ spec: { limited }, metadata }) => {
    limited.nominalConcurrencyShares = 7;
    metadata.annotations[annotation] = "false";
  });
  await defaults.ensure();
  expect(spec("system").limited.nominalConcurrencyShares).toBe(7);
});

test("an object without the annotation belongs to the server until a client changes it", async () => {
  const { defaults, levels, change } = await started();
  const annotationOf = () => levels.current("", "system")?.metadata.annotations?.[annotation];
  await change("system", ({ metadata }) => delete metadata.annotations);
  await defaults.ensure();
  expect(annotationOf()).toBe("true");
  await change("system", ({ metadata, spec: { limited } }) => {
    delete metadata.annotations;
    limited.nominalConcurrencyShares = 7;
  });
  await defaults.ensure();
  expect(annotationOf()).toBe("false");
});

test.each([
  ["t", "t", 30],
  ["False", "False", 7],
  ["no", "false", 7],
])("the annotation %p becomes %p", async (given, expected, shares) => {
  const { defaults, levels, spec, change } = await started();
  await change("system", ({ metadata, spec: { limited } }) => {
    metadata.annotations[annotation] = given;
    limited.nominalConcurrencyShares = 7;
  });
  await defaults.ensure();
  expect(levels.current("", "system")?.metadata.annotations?.[annotation]).toBe(expected);
  expect(spec("system").limited.nominalConcurrencyShares).toBe(shares);
});

test("a mandatory object is restored with its annotation", async () => {
  const { defaults, levels, spec, change } = await started();
  await change("exempt", ({ metadata, spec: { exempt } }) => {
    metadata.annotations[annotation] = "false";
    exempt.lendablePercent = 10;
  });
  await defaults.ensure();
  expect(levels.current("", "exempt")?.metadata.annotations?.[annotation]).toBe("true");
  expect(spec("exempt").exempt.lendablePercent).toBe(10);
});

test("suggestions of an earlier release are removed, and an administrator's objects stay", async () => {
  const { defaults, levels, spec } = await started();
  const create = (name: string, annotations: Record<string, string>) =>
    levels.create({ ...levels.current("", "system"), metadata: { name, annotations } } as KubeObject, "", context);
  await create("of-old", { [annotation]: "true" });
  await create("of-mine", { [annotation]: "false" });
  await defaults.ensure();
  expect(spec("of-old")).toBeUndefined();
  expect(spec("of-mine")).toBeDefined();
});

test("wanted objects have all their defaults, so that a comparison shows that nothing has to change", async () => {
  const { defaults, levels, schemas } = await started();
  let updates = 0;
  for (const registry of [levels, schemas]) {
    const update = registry.update.bind(registry);
    registry.update = (...args) => (updates++, update(...args));
  }
  await defaults.ensure();
  expect(updates).toBe(0);
});

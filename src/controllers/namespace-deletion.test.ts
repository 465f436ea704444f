import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openAlone } from "../../test/contract/open-alone.ts";
import { systemUser } from "../access/authentication/system-user.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { builtInCatalog } from "../kinds/built-in-catalog.ts";
import { Scheme } from "../kinds/scheme.ts";
import { systemClock } from "../process/clock.ts";
import { plainDeletion } from "../registry/delete-options.ts";
import type { WriteContext } from "../registry/write-context.ts";
import { openRegistries } from "../server/registries.ts";
import { CacherSet } from "../storage/cacher/cacher-set.ts";
import { MemoryStore } from "../storage/memory-store.ts";
import type { Command, Store } from "../storage/store.ts";
import { startNamespaceDeletion } from "./namespace-deletion.ts";

const context: WriteContext = { user: systemUser, manager: "test", dryRun: false, warn() {} };
const rounds = 10;

test("no object remains in a namespace that is deleted during creations", async () => {
  const parent = await mkdtemp(join(tmpdir(), "namespace-deletion-"));
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => rm(parent, { recursive: true }));
  // A store on disk, where an admitted creation takes time until it is visible.
  const store = cleanup.adopt(await openAlone({ directory: join(parent, "data") }), (opened) => opened.close());
  const cachers = cleanup.adopt(new CacherSet({ store, clock: systemClock }), (set) => set.close());
  const scheme = Scheme.builtIn();
  const registries = openRegistries({
    catalog: builtInCatalog(scheme),
    store,
    cachers,
    clock: systemClock,
    randomInt: () => 0,
  }).registries;
  const namespaces = registries.of(scheme.find("", "v1", "namespaces"));
  const configMaps = registries.of(scheme.find("", "v1", "configmaps"));
  const failures: unknown[] = [];
  const onError = (error: unknown) => void failures.push(error);
  cleanup.use(startNamespaceDeletion({ registries, namespaces, store, clock: systemClock, onError }));

  for (let round = 0; round < rounds; round++) {
    const namespace = `n${round}`;
    await namespaces.create({ kind: "Namespace", apiVersion: "v1", metadata: { name: namespace } }, "", context);
    const deletion = namespaces.delete("", namespace, plainDeletion, context);
    const creations: Promise<unknown>[] = [];
    let created = 0;
    for (let at = 0; created === at; at++) {
      const object = { kind: "ConfigMap", apiVersion: "v1", metadata: { name: `c${at}`, namespace } };
      creations.push(configMaps.create(object, namespace, context).catch(() => created--));
      created++;
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    await Promise.all([deletion, ...creations]);
    while (namespaces.current("", namespace) !== undefined) await Bun.sleep(1);
    expect(store.scan(`${configMaps.info.keyPrefix}${namespace}/`)).toEqual([]);
  }
  expect(failures).toEqual([]);
});

test("a creation that another server admitted before the deletion is refused, however late it comes", async () => {
  await using cleanup = new AsyncDisposableStack();
  const store = cleanup.adopt(new MemoryStore(), (opened) => opened.close());
  const failures: unknown[] = [];
  const onError = (error: unknown) => void failures.push(error);
  const gate = Promise.withResolvers<void>();
  const slow: Store = new Proxy(store, {
    get(target, property) {
      const value = Reflect.get(target, property, target) as unknown;
      if (typeof value !== "function") return value;
      if (property !== "commit") return value.bind(target);
      return async (command: Command) => {
        if (command.key.includes("/configmaps/")) await gate.promise;
        return store.commit(command);
      };
    },
  });
  const registriesOn = (shared: Store) => {
    const cachers = cleanup.adopt(new CacherSet({ store: shared, clock: systemClock }), (set) => set.close());
    const parts = { catalog: builtInCatalog(Scheme.builtIn()), store: shared, cachers, clock: systemClock };
    return openRegistries({ ...parts, randomInt: () => 0 }).registries;
  };
  const [registries, other] = [registriesOn(store), registriesOn(slow)];
  const namespaces = registries.builtIn({ group: "", resource: "namespaces" });
  const configMaps = other.builtIn({ group: "", resource: "configmaps" });
  cleanup.use(startNamespaceDeletion({ registries, namespaces, store, clock: systemClock, onError }));
  const create = (name: string, metadata = {}) =>
    namespaces.create({ kind: "Namespace", apiVersion: "v1", metadata: { name, ...metadata } }, "", context);
  const createIn = (namespace: string) =>
    configMaps.create(
      { kind: "ConfigMap", apiVersion: "v1", metadata: { name: "late", namespace } },
      namespace,
      context,
    );
  const [gone, held, renewed, labelled] = ["gone", "held", "renewed", "labelled"] as const;
  for (const name of [gone, renewed, labelled]) await create(name);
  await create(held, { finalizers: ["example.com/hold"] });
  const creating = [gone, held, renewed, labelled].map(createIn);
  await Bun.sleep(5);
  for (const name of [gone, held, renewed]) await namespaces.delete("", name, plainDeletion, context);
  for (const name of [gone, renewed]) while (namespaces.current("", name) !== undefined) await Bun.sleep(1);
  await create(renewed);
  const label = (old: KubeObject): KubeObject => ({ ...old, metadata: { ...old.metadata, labels: { a: "b" } } });
  await namespaces.update("", labelled, label, context, { reapplies: true });
  gate.resolve();
  const answers = await Promise.allSettled(creating);
  expect(answers.map((answer) => (answer.status === "rejected" ? String(answer.reason.message) : "created"))).toEqual([
    'namespaces "gone" not found',
    'configmaps "late" is forbidden: unable to create new content in namespace held because it is being terminated',
    "created",
    "created",
  ]);
  expect(failures).toEqual([]);
});

test("many namespaces are emptied at once, and a finalizer keeps one of them", async () => {
  await using cleanup = new AsyncDisposableStack();
  const store = cleanup.adopt(new MemoryStore(), (opened) => opened.close());
  const cachers = cleanup.adopt(new CacherSet({ store, clock: systemClock }), (set) => set.close());
  const parts = { catalog: builtInCatalog(Scheme.builtIn()), store, cachers, clock: systemClock };
  const { registries } = openRegistries({ ...parts, randomInt: () => 0 });
  const namespaces = registries.builtIn({ group: "", resource: "namespaces" });
  const configMaps = registries.builtIn({ group: "", resource: "configmaps" });
  const failures: unknown[] = [];
  const onError = (error: unknown) => void failures.push(error);
  const names = Array.from({ length: 20 }, (_, at) => `n${at}`);
  for (const name of names) {
    await namespaces.create({ kind: "Namespace", apiVersion: "v1", metadata: { name } }, "", context);
    for (let at = 0; at < 20; at++) {
      const finalizers = name === "n7" && at < 2 ? { finalizers: [at === 0 ? "example.com/hold" : "orphan"] } : {};
      const metadata = { name: `c${at}`, namespace: name, ...finalizers };
      await configMaps.create({ kind: "ConfigMap", apiVersion: "v1", metadata }, name, context);
    }
  }
  cleanup.use(startNamespaceDeletion({ registries, namespaces, store, clock: systemClock, onError }));
  for (const name of names) await namespaces.delete("", name, plainDeletion, context);
  const conditionsOf = () => namespaces.current("", "n7")?.["status"] as { conditions?: { message: string }[] };
  while (store.scan(namespaces.info.keyPrefix).length > 1 || conditionsOf().conditions === undefined)
    await Bun.sleep(1);
  expect(
    conditionsOf()
      .conditions?.map(({ message }) => message)
      .slice(-2),
  ).toEqual([
    "Some resources are remaining: configmaps. has 1 resource instances",
    "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
  ]);
  const { revision } = store;
  await Bun.sleep(1_100);
  expect(store.revision).toBe(revision);
  const free = (old: KubeObject): KubeObject => ({ ...old, metadata: { ...old.metadata, finalizers: [] } });
  await configMaps.update("n7", "c0", free, context, { reapplies: true });
  while (namespaces.current("", "n7") !== undefined) await Bun.sleep(1);
  expect(store.scan(configMaps.info.keyPrefix)).toEqual([]);
  expect(failures).toEqual([]);
});

import { afterEach, beforeEach, expect, test } from "bun:test";
import { until } from "../../test/until.ts";
import { systemUser } from "../access/authentication/system-user.ts";
import { volumeFinalizer } from "../admission/storage-object-in-use-protection.ts";
import type { JsonObject } from "../api/json.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { builtInCatalog } from "../kinds/built-in-catalog.ts";
import { Scheme } from "../kinds/scheme.ts";
import { type Clock, systemClock } from "../process/clock.ts";
import type { Registry } from "../registry/registry.ts";
import type { DeleteOptions } from "../registry/strategy.ts";
import type { WriteContext } from "../registry/write-context.ts";
import { openRegistries } from "../server/registries.ts";
import { CacherSet } from "../storage/cacher/cacher-set.ts";
import { MemoryStore } from "../storage/memory-store.ts";
import { AttributesClassProtection } from "./attributes-class-protection.ts";
import { release } from "./held-object.ts";

const context: WriteContext = { user: systemUser, manager: "test", dryRun: false, warn() {} };
const finalizer = "kubernetes.io/vac-protection";

let store: MemoryStore;
let cachers: CacherSet;
let registry: (group: string, resource: string) => Registry;

beforeEach(() => {
  store = new MemoryStore();
  cachers = new CacherSet({ store, clock: systemClock });
  const { registries } = openRegistries({
    catalog: builtInCatalog(Scheme.builtIn()),
    store,
    cachers,
    clock: systemClock,
    randomInt: () => 0,
    serviceNetwork: undefined,
  });
  registry = (group, resource) => registries.find({ group, resource }) as Registry;
});

afterEach(async () => {
  cachers.close();
  await store.close();
});

const classes = () => registry("storage.k8s.io", "volumeattributesclasses");

function create(target: Registry, kind: string, apiVersion: string, fields: JsonObject): Promise<unknown> {
  const object = { kind, apiVersion, metadata: { name: "a" }, ...fields } as unknown as KubeObject;
  return target.create(object, "", context);
}

function protect(clock: Clock = systemClock): AttributesClassProtection {
  const [claims, volumes] = [registry("", "persistentvolumeclaims"), registry("", "persistentvolumes")];
  const onError = (error: unknown) => {
    throw error;
  };
  return new AttributesClassProtection({ classes: classes(), claims, volumes, store, clock, onError });
}

/** Checks the classes once. */
async function check(): Promise<void> {
  const protection = protect();
  using _running = protection.start();
  await protection.check();
}

const now: DeleteOptions = {
  gracePeriodSeconds: undefined,
  propagationPolicy: undefined,
  orphanDependents: undefined,
  preconditions: { uid: undefined, resourceVersion: undefined },
  dryRun: false,
};

async function deletedClass(): Promise<void> {
  const fields = {
    driverName: "d.example.com",
    parameters: { a: "1" },
    metadata: { name: "a", finalizers: [finalizer] },
  };
  await create(classes(), "VolumeAttributesClass", "storage.k8s.io/v1", fields);
  await classes().delete("", "a", now, context);
}

const volume = {
  capacity: { storage: "1Gi" },
  accessModes: ["ReadWriteOnce"],
  csi: { driver: "d.example.com", volumeHandle: "v" },
};

test("a deleted class that nothing names is gone after a check", async () => {
  await deletedClass();
  expect(classes().current("", "a")?.metadata.deletionTimestamp).toBeDefined();
  await check();
  expect(classes().current("", "a")).toBeUndefined();
});

test("a deleted class that a volume names stays", async () => {
  await deletedClass();
  const spec = { ...volume, volumeAttributesClassName: "a" };
  await create(registry("", "persistentvolumes"), "PersistentVolume", "v1", { spec });
  await check();
  expect(classes().current("", "a")).toBeDefined();
});

test("a deleted class goes with the last volume that names it", async () => {
  const hurried: Clock = { ...systemClock, after: (_, run) => systemClock.after(0, run) };
  const volumes = registry("", "persistentvolumes");
  await deletedClass();
  await create(volumes, "PersistentVolume", "v1", { spec: { ...volume, volumeAttributesClassName: "a" } });
  using _running = protect(hurried).start();
  await Bun.sleep(5);
  expect(classes().current("", "a")).toBeDefined();
  await volumes.delete("", "a", now, context);
  await release(volumes, "", "a", volumeFinalizer);
  await until(() => classes().current("", "a") === undefined);
});

test("a class that is not deleted stays", async () => {
  const fields = { driverName: "d.example.com", parameters: { a: "1" } };
  await create(classes(), "VolumeAttributesClass", "storage.k8s.io/v1", fields);
  await check();
  expect(classes().current("", "a")).toBeDefined();
});

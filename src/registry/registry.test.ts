import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { systemUser } from "../access/authentication/system-user.ts";
import type { Entry, Key } from "../api/entry.ts";
import type { KubeObject } from "../api/object-meta.ts";
import type { Revision } from "../api/revision.ts";
import { StatusError } from "../api/status.ts";
import { builtInCatalog } from "../kinds/built-in-catalog.ts";
import { Scheme } from "../kinds/scheme.ts";
import { systemClock } from "../process/clock.ts";
import { openRegistries } from "../server/registries.ts";
import { CacherSet } from "../storage/cacher/cacher-set.ts";
import { MemoryStore } from "../storage/memory-store.ts";
import { plainDeletion } from "./delete-options.ts";
import type { Registries } from "./registries.ts";
import type { Registry } from "./registry.ts";
import { objectBytesMax } from "./stored-kind.ts";
import type { WriteContext } from "./write-context.ts";

const context: WriteContext = { user: systemUser, manager: "test", dryRun: false, warn() {} };
const scheme = Scheme.builtIn();

/** A replica that does not hear of some writes until it asks for the newest state. */
class LaggingStore extends MemoryStore {
  #known: ReadonlyMap<Key, Entry> | undefined;

  /** Writes in between come from another replica. */
  async missing(write: () => Promise<unknown>): Promise<void> {
    const known = new Map(this.scan("/").map((entry) => [entry.key, entry]));
    await write();
    this.#known = known;
  }

  override get(key: Key): Entry | undefined {
    return this.#known === undefined ? super.get(key) : this.#known.get(key);
  }

  override readBarrier(): Revision {
    this.#known = undefined;
    return super.readBarrier();
  }
}

let store: LaggingStore;
let cachers: CacherSet;
let registries: Registries;
let configMaps: Registry;
let chance: number[];

beforeEach(async () => {
  store = new LaggingStore();
  cachers = new CacherSet({ store, clock: systemClock });
  chance = [];
  registries = openRegistries({
    catalog: builtInCatalog(scheme),
    store,
    cachers,
    clock: systemClock,
    randomInt: (below) => (chance.shift() ?? 0) % below,
  }).registries;
  configMaps = registries.of(scheme.find("", "v1", "configmaps"));
  const namespaces = registries.of(scheme.find("", "v1", "namespaces"));
  await namespaces.create({ kind: "Namespace", apiVersion: "v1", metadata: { name: "default" } }, "", context);
});

afterEach(async () => {
  cachers.close();
  await store.close();
});

function configMap(metadata: KubeObject["metadata"], data: Record<string, string> = {}): KubeObject {
  return { kind: "ConfigMap", apiVersion: "v1", metadata: { namespace: "default", ...metadata }, data };
}

async function refusal(write: Promise<unknown>): Promise<StatusError> {
  const error = await write.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof StatusError)) throw new Error("expected a StatusError");
  return error;
}

describe("create()", () => {
  test("fills in what the server owns and stores the bytes that it answers with", async () => {
    const { object, entry } = await configMaps.create(configMap({ name: "a" }, { k: "v" }), "default", context);
    expect(object.metadata).toMatchObject({
      name: "a",
      namespace: "default",
      resourceVersion: String(entry?.revision),
    });
    expect(object.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
    const stored = JSON.parse(Buffer.from(entry?.body ?? []).toString());
    expect(stored.metadata.resourceVersion).toBe(String(entry?.revision));
    expect(stored.metadata.managedFields[0]).toMatchObject({ manager: "test", operation: "Update", apiVersion: "v1" });
  });

  test("refuses a name that is taken", async () => {
    await configMaps.create(configMap({ name: "a" }), "default", context);
    const error = await refusal(configMaps.create(configMap({ name: "a" }), "default", context));
    expect([error.code, error.reason]).toEqual([409, "AlreadyExists"]);
  });

  test("tries another generated name when the first is taken", async () => {
    await configMaps.create(configMap({ name: "x-bbbbb" }), "default", context);
    chance = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1];
    const { object } = await configMaps.create(configMap({ generateName: "x-" }), "default", context);
    expect(object.metadata.name).toBe("x-ccccc");
  });

  test("gives up after eight generated names that are all taken", async () => {
    await configMaps.create(configMap({ name: "x-bbbbb" }), "default", context);
    const error = await refusal(configMaps.create(configMap({ generateName: "x-" }), "default", context));
    expect(error.message).toEndWith("the server was not able to generate a unique name for the object");
  });

  test("a dry run stores nothing", async () => {
    const before = store.revision;
    await configMaps.create(configMap({ name: "a" }), "default", { ...context, dryRun: true });
    expect([store.revision, configMaps.current("default", "a")]).toEqual([before, undefined]);
  });

  test("refuses a namespace that does not exist", async () => {
    const error = await refusal(configMaps.create(configMap({ name: "a", namespace: "none" }), "none", context));
    expect([error.code, error.message]).toEqual([404, 'namespaces "none" not found']);
  });
});

describe("update()", () => {
  test("concurrent updates without a guard all count", async () => {
    await configMaps.create(configMap({ name: "a" }), "default", context);
    const writers = Array.from({ length: 40 }, (_unused, at) =>
      configMaps.update(
        "default",
        "a",
        (old) => ({ ...old, data: { ...(old["data"] as object), [`k${at}`]: "v" } }),
        context,
        { reapplies: true },
      ),
    );
    await Promise.all(writers);
    expect(Object.keys(configMaps.current("default", "a")?.["data"] as object)).toHaveLength(40);
  });

  test.each([
    ["0", 0],
    ["abc", undefined],
    ["18446744073709551616", undefined],
  ])("a new object may have the resourceVersion %p, which cannot be a revision", async (resourceVersion, parsed) => {
    const draft = (name: string) => configMap({ name, resourceVersion });
    const created = await configMaps.create(draft("a"), "default", context);
    expect(created.object.metadata.resourceVersion).toBe(String(created.entry?.revision));
    const applied = configMaps.upsert("default", "b", () => draft("b"), context, {});
    if (parsed === undefined) await expect(applied).rejects.toThrow("strconv.ParseUint: parsing");
    else expect((await applied).created).toBe(true);
  });

  test("of two updates that name the same resourceVersion exactly one succeeds", async () => {
    const { object } = await configMaps.create(configMap({ name: "a" }), "default", context);
    const write = (value: string) =>
      configMaps.update("default", "a", () => ({ ...structuredClone(object), data: { value } }), context);
    const outcomes = await Promise.allSettled([write("1"), write("2")]);
    const rejected = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(rejected).toHaveLength(1);
    expect(rejected.map(({ reason }) => (reason as StatusError).reason)).toEqual(["Conflict"]);
  });

  test.each([
    [false, "/registry/configmaps/default/a"],
    [true, "/configmaps/default/a"],
  ])("of another object is a conflict that shows the key, in a dry run (%p) as %s", async (dryRun, key) => {
    await configMaps.create(configMap({ name: "a" }), "default", context);
    const other = () => configMap({ name: "a", uid: "x" });
    const { message } = await refusal(configMaps.update("default", "a", other, { ...context, dryRun }));
    expect(message).toContain(`Code: 4, Key: ${key}, ResourceVersion: 0`);
  });

  test("an update keeps no link to the object; a dry run shows it", async () => {
    const { object } = await configMaps.create(configMap({ name: "a" }), "default", context);
    const linked = () => configMap({ name: "a", selfLink: "/x" } as KubeObject["metadata"]);
    const dry = await configMaps.update("default", "a", linked, { ...context, dryRun: true });
    expect(dry.object.metadata).toHaveProperty("selfLink", "/x");
    const { object: updated } = await configMaps.update("default", "a", linked, context);
    expect(updated.metadata).toEqual(object.metadata);
  });

  test("an update that changes nothing keeps the resourceVersion", async () => {
    const { object } = await configMaps.create(configMap({ name: "a" }, { k: "v" }), "default", context);
    const result = await configMaps.update("default", "a", () => structuredClone(object), context);
    expect(result.object.metadata.resourceVersion).toBe(object.metadata.resourceVersion as string);
  });

  test("an object cannot grow beyond the limit by patches that are small enough", async () => {
    const events = registries.of(scheme.find("", "v1", "events"));
    const event = { kind: "Event", apiVersion: "v1", metadata: { name: "e", namespace: "default" }, message: "" };
    const involvedObject = { kind: "Pod", namespace: "default", name: "p" };
    await events.create({ ...event, involvedObject } as KubeObject, "default", context);
    const grow = (old: KubeObject) => ({ ...old, message: "x".repeat(objectBytesMax) });
    const error = await refusal(events.update("default", "e", grow, context, { reapplies: true }));
    expect([error.code, error.message]).toEqual([413, `Request entity too large: limit is ${objectBytesMax}`]);
  });

  test("taking the last finalizer from a terminating object removes it in the same write", async () => {
    await configMaps.create(configMap({ name: "a", finalizers: ["x/y"] }), "default", context);
    await configMaps.delete("default", "a", plainDeletion, context);
    const result = await configMaps.update(
      "default",
      "a",
      (old) => ({ ...old, metadata: { ...old.metadata, finalizers: [] } }),
      context,
      { reapplies: true },
    );
    expect([result.removed, configMaps.current("default", "a")]).toEqual([true, undefined]);
  });
});

describe("delete()", () => {
  test("answers with the resource's name and uid", async () => {
    const { object } = await configMaps.create(configMap({ name: "a" }), "default", context);
    const { answer } = await configMaps.delete("default", "a", plainDeletion, context);
    if (answer.kind !== "status") throw new Error("expected a Status");
    expect(answer.status.details).toEqual({ name: "a", kind: "configmaps", uid: object.metadata.uid as string });
  });

  test("a precondition on another uid is a conflict", async () => {
    await configMaps.create(configMap({ name: "a" }), "default", context);
    const options = { ...plainDeletion, preconditions: { uid: "other", resourceVersion: undefined } };
    expect((await refusal(configMaps.delete("default", "a", options, context))).code).toBe(409);
  });
});

test.each<[why: string, abandoned: Partial<WriteContext>]>([
  ["is out of time", { deadlineMs: 1 }],
  ["has lost its client", { isAbandoned: () => true }],
])("a request that %s stores and removes nothing", async (_, abandoned) => {
  await configMaps.create(configMap({ name: "a" }, { k: "1" }), "default", context);
  const late = { ...context, ...abandoned };
  const { revision } = store;
  const refusals = [
    await refusal(configMaps.create(configMap({ name: "b" }), "default", late)),
    await refusal(configMaps.update("default", "a", (old) => ({ ...old, data: { k: "2" } }), late)),
    await refusal(configMaps.delete("default", "a", plainDeletion, late)),
  ];
  expect(refusals.map(({ code, message }) => [code, message])).toEqual(
    refusals.map(() => [504, "Timeout: request did not complete within requested timeout"]),
  );
  expect(store.revision).toBe(revision);
});

describe("a replica that lacks what another one has acknowledged", () => {
  const replacing = (metadata: KubeObject["metadata"], k: string) => async () => configMap(metadata, { k });
  const create = () => configMaps.create(configMap({ name: "a" }, { k: "first" }), "default", context);
  const update = (k: string, resourceVersion = "") =>
    configMaps.update("default", "a", replacing({ name: "a", resourceVersion }, k), context);
  const remove = () => configMaps.delete("default", "a", plainDeletion, context);

  test("updates what was created elsewhere, at the resourceVersion of there", async () => {
    await store.missing(create);
    expect((await update("second")).object["data"]).toEqual({ k: "second" });
    let resourceVersion: string | undefined;
    await store.missing(async () => {
      ({ resourceVersion } = (await update("third")).object.metadata);
    });
    expect((await update("fourth", resourceVersion)).object["data"]).toEqual({ k: "fourth" });
  });

  test("deletes what was created elsewhere, and does not find what was deleted there", async () => {
    await store.missing(create);
    expect((await remove()).removed).toBe(true);
    await create();
    await store.missing(remove);
    expect((await refusal(update("second"))).code).toBe(404);
  });

  test("creates in a namespace that was created elsewhere", async () => {
    const namespaces = registries.of(scheme.find("", "v1", "namespaces"));
    await store.missing(() =>
      namespaces.create({ kind: "Namespace", apiVersion: "v1", metadata: { name: "new" } }, "", context),
    );
    const created = await configMaps.create(configMap({ name: "a", namespace: "new" }), "new", context);
    expect(created.created).toBe(true);
  });

  test("does not take a write for one that changes nothing because it did so before", async () => {
    await create();
    await store.missing(() => update("second"));
    await update("first");
    store.readBarrier();
    expect(configMaps.current("default", "a")?.["data"]).toEqual({ k: "first" });
  });
});

test("admission that breaks managedFields does not get them stored", async () => {
  const warnings: string[] = [];
  const { registries: guarded } = openRegistries({
    catalog: builtInCatalog(scheme),
    store,
    cachers,
    clock: systemClock,
    randomInt: () => 0,
    admissionGuards: [
      {
        name: "breaks",
        admit({ object }) {
          if (object !== undefined) object.metadata.managedFields = [{ manager: "x", operation: "Update" }];
        },
      },
    ],
  });
  const registry = guarded.of(scheme.find("", "v1", "configmaps"));
  const object = { kind: "ConfigMap", apiVersion: "v1", metadata: { name: "broken", namespace: "default" }, data: {} };
  const warned = { ...context, warn: (text: string) => void warnings.push(text) };
  const stored = await registry.create({ ...object, data: { a: "1" } }, "default", warned);
  expect(stored.object.metadata.managedFields?.map(({ manager }) => manager)).toEqual(["test"]);
  expect(warnings).toEqual([
    ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: apiVersion must not be empty",
  ]);
});

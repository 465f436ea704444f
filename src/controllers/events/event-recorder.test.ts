import { afterEach, beforeEach, expect, test } from "bun:test";
import { systemUser } from "../../access/authentication/system-user.ts";
import { decodeEntry } from "../../api/codec/stored-object.ts";
import { builtInCatalog } from "../../kinds/built-in-catalog.ts";
import { Scheme } from "../../kinds/scheme.ts";
import { plainDeletion } from "../../registry/delete-options.ts";
import type { Registries } from "../../registry/registries.ts";
import type { WriteContext } from "../../registry/write-context.ts";
import { openRegistries } from "../../server/registries.ts";
import { CacherSet } from "../../storage/cacher/cacher-set.ts";
import { ManualClock, settle } from "../../storage/cacher/testing.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { EventRecorder } from "./event-recorder.ts";

const context: WriteContext = { user: systemUser, manager: "test", dryRun: false, warn() {} };
const about = { apiVersion: "v1", kind: "Node", name: "node-1", uid: "u" };
const seen = { about, type: "Normal", reason: "Seen", message: "Node node-1 was seen" } as const;

let store: MemoryStore;
let cachers: CacherSet;
let registries: Registries;
let recorder: EventRecorder;
const clock = new ManualClock();
const errors: unknown[] = [];

beforeEach(async () => {
  store = new MemoryStore();
  cachers = new CacherSet({ store, clock });
  registries = openRegistries({
    catalog: builtInCatalog(Scheme.builtIn()),
    store,
    cachers,
    clock,
    randomInt: () => 0,
  }).registries;
  const namespaces = registries.builtIn({ group: "", resource: "namespaces" });
  await namespaces.create({ kind: "Namespace", apiVersion: "v1", metadata: { name: "default" } }, "", context);
  const onError = (error: unknown) => void errors.push(error);
  recorder = new EventRecorder({ events: eventsOf(), clock, component: "test-controller", onError });
});

afterEach(async () => {
  recorder[Symbol.dispose]();
  cachers.close();
  await store.close();
  expect(errors).toEqual([]);
});

const eventsOf = () => registries.builtIn({ group: "", resource: "events" });
const recorded = () => {
  const { info } = eventsOf();
  return store.scan(info.keyPrefix).map((entry) => decodeEntry(entry, info) as any);
};

test("an Event about a cluster-scoped object is in the namespace default", async () => {
  recorder.record(seen);
  await settle();
  expect(recorded()).toMatchObject([
    {
      metadata: { namespace: "default", name: expect.stringMatching(/^node-1\.[0-9a-f]+$/) },
      involvedObject: about,
      type: "Normal",
      reason: "Seen",
      message: "Node node-1 was seen",
      source: { component: "test-controller" },
      reportingComponent: "test-controller",
      reportingInstance: "",
      firstTimestamp: "1970-01-01T00:16:40Z",
      lastTimestamp: "1970-01-01T00:16:40Z",
      count: 1,
    },
  ]);
});

test("an Event that occurs again is counted, and is written anew if it has expired", async () => {
  recorder.record(seen);
  await settle();
  clock.advance(10_000);
  recorder.record(seen);
  await settle();
  const [first, ...others] = recorded();
  expect(others).toEqual([]);
  expect(first).toMatchObject({ count: 2, lastTimestamp: "1970-01-01T00:16:50Z" });
  await eventsOf().delete("default", first.metadata.name, plainDeletion, context);
  recorder.record(seen);
  await settle();
  expect(recorded()).toMatchObject([{ count: 3, firstTimestamp: first.firstTimestamp }]);
});

test("an Event in a namespace that does not exist is dropped, and so is one after the end", async () => {
  recorder.record({ ...seen, about: { ...about, namespace: "missing" } });
  recorder[Symbol.dispose]();
  recorder.record(seen);
  await settle();
  expect(recorded()).toEqual([]);
});

import { afterEach, beforeEach, expect, test } from "bun:test";
import { systemUser } from "../access/authentication/system-user.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { formatTime } from "../api/time.ts";
import { builtInCatalog } from "../kinds/built-in-catalog.ts";
import { Scheme } from "../kinds/scheme.ts";
import type { Registries } from "../registry/registries.ts";
import type { WriteContext } from "../registry/write-context.ts";
import { openRegistries } from "../server/registries.ts";
import { CacherSet } from "../storage/cacher/cacher-set.ts";
import { ManualClock } from "../storage/cacher/testing.ts";
import { MemoryStore } from "../storage/memory-store.ts";
import { EventExpiry } from "./event-expiry.ts";

const context: WriteContext = { user: systemUser, manager: "test", dryRun: false, warn() {} };
const ttlMs = 3_600_000;
const scheme = Scheme.builtIn();

let clock: ManualClock;
let cleanup: AsyncDisposableStack;
let store: MemoryStore;
let registries: Registries;

beforeEach(async () => {
  clock = new ManualClock();
  cleanup = new AsyncDisposableStack();
  store = cleanup.adopt(new MemoryStore(), (opened) => opened.close());
  const cachers = cleanup.adopt(new CacherSet({ store, clock }), (set) => set.close());
  registries = openRegistries({
    catalog: builtInCatalog(scheme),
    store,
    cachers,
    clock,
    randomInt: () => 0,
  }).registries;
  const namespace = { kind: "Namespace", apiVersion: "v1", metadata: { name: "default" } };
  await registries.of(scheme.find("", "v1", "namespaces")).create(namespace, "", context);
});
afterEach(() => cleanup.disposeAsync());

const events = () => registries.of(scheme.find("", "v1", "events"));

function start(): Disposable {
  const onError = (error: unknown) => {
    throw error;
  };
  return new EventExpiry({ events: events(), store, clock, ttlMs, mayAct: () => true, onError }).start();
}

async function create(name: string, times: Record<string, unknown> = {}): Promise<void> {
  const involvedObject = { kind: "Pod", namespace: "default", name: "p" };
  const object = {
    kind: "Event",
    apiVersion: "v1",
    metadata: { name, namespace: "default" },
    involvedObject,
    ...times,
  };
  await events().create(object as KubeObject, "default", context);
}

/** Advances time, and waits for the work that this starts. */
async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 60_000) {
    clock.advance(Math.min(60_000, ms - passed));
    for (let turn = 0; turn < 5; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

const names = () => store.scan(events().info.keyPrefix).map(({ key }) => key.slice(key.lastIndexOf("/") + 1));

test("an Event is removed when it has not been written for its time to live", async () => {
  using _expiry = start();
  await create("old");
  await create("renewed");
  await pass(ttlMs / 2);
  await events().update("default", "renewed", (old) => ({ ...old, count: 2 }), context);
  await pass(ttlMs / 2 + 120_000);
  expect(names()).toEqual(["renewed"]);
  await pass(ttlMs / 2);
  expect(names()).toEqual([]);
});

test("a restart neither shortens nor prolongs the life of an Event", async () => {
  await create("an-old-one");
  await pass(ttlMs / 2);
  await create("seen-again", { lastTimestamp: formatTime(clock.nowMs()) });
  await create("seen-in-a-series", {
    series: { count: 2, lastObservedTime: `${formatTime(clock.nowMs()).slice(0, -1)}.000000Z` },
  });
  await create("from-the-future", { lastTimestamp: formatTime(clock.nowMs() + 10 * ttlMs) });
  using _expiry = start();
  await pass(ttlMs / 2 - 120_000);
  expect(names()).toHaveLength(4);
  await pass(240_000);
  expect(names()).toEqual(["from-the-future", "seen-again", "seen-in-a-series"]);
  await pass(ttlMs / 2);
  expect(names()).toEqual([]);
});

test.each([-10 * ttlMs, 10 * ttlMs])(
  "system time that is set by %i ms removes no Event early or late",
  async (byMs) => {
    await create("of-an-earlier-run");
    using _expiry = start();
    await create("new");
    await pass(ttlMs / 2);
    clock.set(byMs);
    await pass(ttlMs / 2 - 120_000);
    expect(names()).toEqual(["new", "of-an-earlier-run"]);
    await pass(240_000);
    expect(names()).toEqual([]);
  },
);

test("an Event of an earlier run that is written again expires later", async () => {
  await create("kept");
  await pass(ttlMs - 120_000);
  using _expiry = start();
  await events().update("default", "kept", (old) => ({ ...old, count: 2 }), context);
  await pass(240_000);
  expect(names()).toEqual(["kept"]);
  await pass(ttlMs);
  expect(names()).toEqual([]);
});

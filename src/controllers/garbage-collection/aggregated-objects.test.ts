import { expect, test } from "bun:test";
import type { KubeObject, ObjectMeta, OwnerReference } from "../../api/object-meta.ts";
import { StatusError, status } from "../../api/status.ts";
import type { DiscoveredVersion } from "../../client/aggregation/discovered-version.ts";
import type { Client, WatchEvent } from "../../client/client.ts";
import { NoAnswerError } from "../../client/transport.ts";
import { ManualClock } from "../../storage/cacher/testing.ts";
import { AggregatedObjects } from "./aggregated-objects.ts";

const noKind = { group: "", version: "", kind: "" };

function version(freshness: DiscoveredVersion["freshness"], ...verbs: string[]): DiscoveredVersion {
  const names = { singularResource: "", shortNames: [], categories: [], subresources: [] };
  const things = {
    resource: "things",
    responseKind: { ...noKind, kind: "Thing" },
    scope: "Namespaced",
    verbs,
    ...names,
  };
  return { group: "g", version: "v1", freshness, resources: [things] as DiscoveredVersion["resources"] };
}

const owner = (name: string, uid: string): OwnerReference => ({ apiVersion: "g/v1", kind: "Thing", name, uid });

class World {
  readonly changes: string[] = [];
  readonly failures: unknown[] = [];
  readonly #watches: ((event: WatchEvent<KubeObject>) => void)[] = [];
  readonly #followers: (() => void)[] = [];
  listed: ObjectMeta[] | Error = [];
  answer: ObjectMeta | Error = new Error("not asked");
  versions: readonly DiscoveredVersion[];
  readonly objects: AggregatedObjects;
  readonly running: Disposable;

  constructor(versions: readonly DiscoveredVersion[], totalMax?: number) {
    this.versions = versions;
    this.objects = new AggregatedObjects({
      versions: {
        versions: () => this.versions,
        follow: (run) => {
          this.#followers.push(run);
          return { [Symbol.dispose]() {} };
        },
      },
      client: this.#client() as unknown as Client,
      clock: new ManualClock(),
      totalMax,
      changed: ({ metadata }, before) => void this.changes.push(`${before ? "changed" : "came"} ${metadata.name}`),
      gone: ({ metadata }) => void this.changes.push(`gone ${metadata.name}`),
      resourcesChanged: () => void this.changes.push("resources"),
      onError: (error) => void this.failures.push(error),
    });
    this.running = this.objects.start();
  }

  discover(...versions: DiscoveredVersion[]): Promise<void> {
    this.versions = versions;
    for (const run of this.#followers) run();
    return settled();
  }

  get watches(): number {
    return this.#watches.length;
  }

  tell(type: "ADDED" | "MODIFIED" | "DELETED", metadata: ObjectMeta): Promise<void> {
    for (const watch of this.#watches) watch({ type, object: { apiVersion: "g/v1", kind: "Thing", metadata } });
    return settled();
  }

  #client() {
    const watches = this.#watches;
    return {
      list: async () => {
        if (this.listed instanceof Error) throw this.listed;
        return { metadata: { resourceVersion: "1" }, items: this.listed.map((metadata) => ({ metadata })) };
      },
      get: async () => {
        if (this.answer instanceof Error) throw this.answer;
        return { metadata: this.answer };
      },
      async *watch(_: unknown, { signal }: { signal: AbortSignal }) {
        const events: WatchEvent<KubeObject>[] = [];
        let wake = Promise.withResolvers<void>();
        watches.push((event) => {
          events.push(event);
          wake.resolve();
        });
        signal.addEventListener("abort", () => {
          // An informer that has failed no longer waits.
          wake.promise.catch(() => {});
          wake.reject(signal.reason);
        });
        for (;;) {
          yield* events.splice(0);
          await wake.promise;
          wake = Promise.withResolvers();
        }
      },
    };
  }
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

async function open(...versions: DiscoveredVersion[]): Promise<World> {
  const world = new World(versions);
  await settled();
  return world;
}

const watched = version("Current", "delete", "list", "watch");
const thing = (name: string, rest: ObjectMeta = {}): ObjectMeta => ({
  name,
  namespace: "n",
  uid: `uid-${name}`,
  resourceVersion: "2",
  ...rest,
});

test("objects are known from the list and the watch, and by their owners", async () => {
  const world = await open(watched);
  await world.tell("ADDED", thing("a", { ownerReferences: [owner("o", "uid-o")] }));
  expect(world.objects.dependentsOf("uid-o").map(({ metadata }) => metadata.name)).toEqual(["a"]);
  expect(world.objects.blocks("uid-o")).toBe(false);
  const blocking = { ...owner("o", "uid-o"), blockOwnerDeletion: true };
  await world.tell("MODIFIED", thing("a", { ownerReferences: [blocking], resourceVersion: "3" }));
  expect(world.objects.blocks("uid-o")).toBe(true);
  await world.tell("DELETED", thing("a", { resourceVersion: "4" }));
  expect([world.objects.dependentsOf("uid-o"), world.changes]).toEqual([[], ["came a", "changed a", "gone a"]]);
  world.running[Symbol.dispose]();
});

test("a resource without the verbs is not watched; one whose server fails stays, and goes with its APIService", async () => {
  const world = await open(version("Current", "get", "list"));
  expect(world.watches).toBe(0);
  await world.discover(watched);
  await world.tell("ADDED", thing("a", { ownerReferences: [owner("o", "uid-o")] }));
  await world.discover({ ...watched, freshness: "Stale" });
  expect([world.watches, world.objects.dependentsOf("uid-o").length]).toEqual([1, 1]);
  await world.discover();
  expect(world.objects.dependentsOf("uid-o")).toEqual([]);
  expect(world.changes).toEqual(["resources", "came a", "resources", "resources"]);
  expect(world.failures).toEqual([]);
});

test("all resources together have at most a number of objects", async () => {
  const world = new World([], 3);
  world.listed = [thing("a"), thing("b")];
  await world.discover(watched, { ...watched, group: "h" });
  expect(world.changes).toEqual(["resources", "came a", "came b", "came a"]);
  expect(world.failures.map(String)).toEqual(["Error: things: there are more than 1 objects"]);
  await world.tell("ADDED", thing("c"));
  expect(world.failures.map(String).slice(1)).toEqual(["Error: things: there are more than 2 objects"]);
  expect(world.changes.length).toBe(4);
  world.running[Symbol.dispose]();
});

const missing = (details: object) => {
  const { status: found } = status.notFound({ group: "g", resource: "things", name: "o" });
  return new StatusError({ ...found, details });
};

test.each<[what: string, answer: ObjectMeta | Error, freshness: DiscoveredVersion["freshness"], state: string]>([
  ["exists", thing("o"), "Current", "present"],
  ["has another uid", thing("o", { uid: "other" }), "Current", "absent"],
  ["does not exist", missing({ name: "o" }), "Current", "absent"],
  ["is on a server without the resource", missing({}), "Current", "unreadable"],
  ["is on a server that fails", status.serviceUnavailable("no"), "Current", "unreadable"],
  ["is on a server that is known to fail", thing("o"), "Stale", "unreadable"],
  ["is on a server that nobody has asked yet", thing("o"), "Pending", "unreadable"],
])("stateOf() an owner that %s", async (_, answer, freshness, state) => {
  const world = await open({ ...watched, freshness });
  world.answer = answer;
  expect(await world.objects.stateOf(owner("o", "uid-o"), "n")).toBe(state as "present");
  world.running[Symbol.dispose]();
});

test("stateOf() an owner of another group, kind or reach", async () => {
  const world = await open(watched);
  expect(await world.objects.stateOf({ ...owner("o", "u"), apiVersion: "other/v1" }, "n")).toBe("unserved");
  expect(await world.objects.stateOf({ ...owner("o", "u"), kind: "Other" }, "n")).toBe("unserved");
  expect(await world.objects.stateOf(owner("o", "u"), "")).toBe("outOfReach");
  world.running[Symbol.dispose]();
});

test("a server that answers again is read at once, not after the pause", async () => {
  const world = await open();
  world.listed = new NoAnswerError("connection refused");
  await world.discover(watched);
  world.listed = [thing("a")];
  await world.discover({ ...watched, freshness: "Stale" });
  expect(world.objects.get("aggregated:g/v1/things/n/a")).toBeUndefined();
  await world.discover(watched);
  expect(world.objects.get("aggregated:g/v1/things/n/a")?.metadata.uid).toBe("uid-a");
  world.running[Symbol.dispose]();
});

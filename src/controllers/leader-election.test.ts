import { afterEach, beforeEach, expect, test } from "bun:test";
import type { KubeObject } from "../api/object-meta.ts";
import { builtInCatalog } from "../kinds/built-in-catalog.ts";
import { Scheme } from "../kinds/scheme.ts";
import type { Registries } from "../registry/registries.ts";
import { serverContext } from "../registry/server-context.ts";
import { openRegistries } from "../server/registries.ts";
import { CacherSet } from "../storage/cacher/cacher-set.ts";
import { ManualClock } from "../storage/cacher/testing.ts";
import { MemoryStore } from "../storage/memory-store.ts";
import { type Store, StoreUnavailableError } from "../storage/store.ts";
import { LeaderElection } from "./leader-election.ts";

const scheme = Scheme.builtIn();
const namespace = "kube-system";
const name = "lock";
const lockId = { group: "coordination.k8s.io", resource: "leases" };

let clock: ManualClock;
let cleanup: AsyncDisposableStack;
let store: MemoryStore;
let errors: unknown[];

beforeEach(async () => {
  clock = new ManualClock();
  cleanup = new AsyncDisposableStack();
  store = cleanup.adopt(new MemoryStore(), (opened) => opened.close());
  errors = [];
  const namespaces = registriesOn(store).builtIn({ group: "", resource: "namespaces" });
  await namespaces.create({ kind: "Namespace", apiVersion: "v1", metadata: { name: namespace } }, "", serverContext);
});
afterEach(() => cleanup.disposeAsync());

function registriesOn(shared: Store): Registries {
  const cachers = cleanup.adopt(new CacherSet({ store: shared, clock }), (set) => set.close());
  return openRegistries({
    catalog: builtInCatalog(scheme),
    store: shared,
    cachers,
    clock,
    randomInt: () => 0,
  }).registries;
}

/** One of several servers on a store, with a link that the test can cut. */
class Server {
  readonly identity: string;
  readonly election: LeaderElection;
  leads = false;
  /** State of its link. Writes that hang are rejected when the link is restored. */
  link: "whole" | "refusing" | "hanging" = "whole";
  #hanging: (() => void)[] = [];

  constructor(identity: string, random: () => number = () => 0.5) {
    this.identity = identity;
    const leases = registriesOn(this.#linked()).builtIn(lockId);
    const lead = () => {
      expect(servers.filter(({ leads }) => leads)).toEqual([]);
      this.leads = true;
      return { [Symbol.dispose]: () => (this.leads = false) };
    };
    const onError = (error: unknown) => errors.push(error);
    this.election = new LeaderElection({ leases, namespace, name, identity, store, clock, random, lead, onError });
    servers.push(this);
    this.election.start();
  }

  mend(): void {
    this.link = "whole";
    for (const run of this.#hanging.splice(0)) run();
  }

  /** Stops without releasing the lease, as after a kill. */
  kill(): void {
    this.link = "refusing";
    this.leads = false;
    void this.election.stop();
  }

  #linked(): Store {
    const unavailable = () => new StoreUnavailableError("no quorum");
    const commit: Store["commit"] = async (command) => {
      if (this.link === "refusing") throw unavailable();
      if (this.link === "hanging") await new Promise<void>((resolve) => this.#hanging.push(resolve));
      return store.commit(command);
    };
    return new Proxy(store, {
      get: (target, property) => {
        if (property === "commit") return commit;
        const value = Reflect.get(target, property, target) as unknown;
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  }
}

let servers: Server[] = [];
beforeEach(() => (servers = []));

async function turns(): Promise<void> {
  for (let turn = 0; turn < 6; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
}

/** Advances time in small steps, and waits for the work of each. */
async function pass(ms: number, stepMs = 100): Promise<void> {
  for (let passed = 0; passed < ms; passed += stepMs) {
    clock.advance(Math.min(stepMs, ms - passed));
    await turns();
  }
}

const leaders = () => servers.filter(({ leads }) => leads).map(({ identity }) => identity);
const leases = () => registriesOn(store).builtIn(lockId);
const specNow = () => leases().current(namespace, name)?.["spec"] as Record<string, unknown>;

async function lock(spec: Record<string, unknown>): Promise<void> {
  const lease = { kind: "Lease", apiVersion: "coordination.k8s.io/v1", metadata: { name, namespace }, spec };
  await leases().create(lease as unknown as KubeObject, namespace, serverContext);
}

test("a single candidate leads at once and renews every two seconds", async () => {
  const server = new Server("a");
  await pass(0, 1);
  clock.advance(0);
  await turns();
  expect(server.election.isLeader).toBe(true);
  expect(specNow()).toMatchObject({ holderIdentity: "a", leaseDurationSeconds: 15, leaseTransitions: 0 });
  const { renewTime, acquireTime } = specNow();
  const { revision } = store;
  await pass(20_000);
  expect(specNow()["acquireTime"]).toBe(acquireTime);
  expect(specNow()["renewTime"]).not.toBe(renewTime);
  expect(store.revision - revision).toBe(10);
  expect(leaders()).toEqual(["a"]);
});

test("a lease of the same identity from a killed process causes no wait", async () => {
  new Server("a");
  await pass(100);
  servers[0]?.kill();
  servers = [];
  await pass(60_000);
  new Server("a");
  await pass(1, 1);
  expect(leaders()).toEqual(["a"]);
  expect(specNow()["leaseTransitions"]).toBe(0);
});

test("another candidate leads when the lease of a killed leader has ended, and not before", async () => {
  const first = new Server("a");
  await pass(100);
  new Server("b");
  await pass(20_000);
  expect(leaders()).toEqual(["a"]);
  first.kill();
  await pass(13_000);
  expect(leaders()).toEqual([]);
  await pass(2_100);
  expect(leaders()).toEqual(["b"]);
  expect(specNow()["leaseTransitions"]).toBe(1);
});

test("a stopping leader releases the lease, and the next one leads at once", async () => {
  const first = new Server("a");
  await pass(100);
  new Server("b");
  await pass(5_000);
  await first.election.stop();
  expect(leaders()).toEqual([]);
  expect(specNow()).toMatchObject({ leaseDurationSeconds: 1, leaseTransitions: 0 });
  expect(specNow()["holderIdentity"] ?? "").toBe("");
  await pass(10, 1);
  expect(leaders()).toEqual(["b"]);
});

test.each(["refusing", "hanging"] as const)(
  "a leader whose store is %s stops before another one starts",
  async (link) => {
    const first = new Server("a");
    await pass(100);
    new Server("b");
    await pass(4_000);
    first.link = link;
    await pass(9_900);
    expect(leaders().filter((identity) => identity === "b")).toEqual([]);
    await pass(200);
    expect(leaders()).toEqual([]);
    expect(errors).toHaveLength(1);
    await pass(6_000);
    expect(leaders()).toEqual(["b"]);
    first.mend();
    await pass(60_000, 1_000);
    expect(leaders()).toEqual(["b"]);
  },
);

test("stopping does not wait for a store that does not answer", async () => {
  const server = new Server("a");
  await pass(100);
  server.link = "hanging";
  const stopped = server.election.stop();
  expect(leaders()).toEqual([]);
  await pass(1_000);
  await stopped;
});

test("a leader creates its lease again after its deletion", async () => {
  new Server("a");
  await pass(100);
  const preconditions = { uid: undefined, resourceVersion: undefined };
  const options = { gracePeriodSeconds: 0, propagationPolicy: undefined, orphanDependents: undefined, dryRun: false };
  await leases().delete(namespace, name, { ...options, preconditions }, serverContext);
  await pass(2_100);
  expect(specNow()["holderIdentity"]).toBe("a");
  expect(leaders()).toEqual(["a"]);
});

test("the lease of a client-go candidate is respected while it is renewed, whatever its clock says", async () => {
  const time = "1999-01-01T00:00:00.000000Z";
  await lock({
    holderIdentity: "host_uuid",
    leaseDurationSeconds: 15,
    acquireTime: time,
    renewTime: time,
    leaseTransitions: 7,
  });
  new Server("a");
  for (let second = 0; second < 6; second++) {
    await pass(5_000);
    const renewTime = `1999-01-01T00:00:0${second}.500000Z`;
    const renewed = (old: KubeObject): KubeObject => ({ ...old, spec: { ...(old["spec"] as object), renewTime } });
    await leases().update(namespace, name, renewed, serverContext);
  }
  expect(leaders()).toEqual([]);
  await pass(15_100);
  expect(leaders()).toEqual(["a"]);
  expect(specNow()["leaseTransitions"]).toBe(8);
});

const seed = Number(Bun.env["SEED"] ?? Date.now() % 2 ** 31);

test(`at most one of three candidates leads, however the store fails each (SEED=${seed})`, async () => {
  let state = seed;
  const random = () => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
  const three = ["a", "b", "c"].map((identity) => new Server(identity, random));
  const seen = new Set<string>();
  for (let round = 0; round < 150; round++) {
    const one = three[Math.floor(random() * 3)] as Server;
    if (one.link === "whole" && random() < 0.7) one.link = random() < 0.5 ? "refusing" : "hanging";
    else one.mend();
    // `lead` checks on each server that no other leads.
    await pass(random() * 12_000, 500);
    for (const identity of leaders()) seen.add(identity);
    expect(leaders().length).toBeLessThanOrEqual(1);
  }
  for (const one of three) one.mend();
  await pass(40_000, 500);
  expect(leaders()).toHaveLength(1);
  expect(seen.size).toBe(3);
});

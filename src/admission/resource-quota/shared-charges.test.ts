import { afterEach, beforeEach, expect, test } from "bun:test";
import { until } from "../../../test/until.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { StatusError } from "../../api/status.ts";
import { QuotaUsage } from "../../controllers/quota-usage.ts";
import { builtInCatalog } from "../../kinds/built-in-catalog.ts";
import { Scheme } from "../../kinds/scheme.ts";
import { systemClock } from "../../process/clock.ts";
import type { Catalog } from "../../registry/catalog.ts";
import { plainDeletion } from "../../registry/delete-options.ts";
import type { Registries } from "../../registry/registries.ts";
import type { Registry } from "../../registry/registry.ts";
import { serverContext } from "../../registry/server-context.ts";
import { openRegistries } from "../../server/registries.ts";
import { CacherSet } from "../../storage/cacher/cacher-set.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import type { Store } from "../../storage/store.ts";
import type { QuotaAccountant } from "./accountant.ts";
import { resourceQuotas } from "./quota.ts";

const scheme = Scheme.builtIn();
const namespace = "ns";
const chargesPrefix = "/registry/quotacharges/";

let store: MemoryStore;
let cleanup: AsyncDisposableStack;
let servers: Set<string>;

beforeEach(async () => {
  cleanup = new AsyncDisposableStack();
  store = cleanup.adopt(new MemoryStore(), (opened) => opened.close());
  servers = new Set();
});
afterEach(() => cleanup.disposeAsync());

/** A server on the store. Writes of its ConfigMaps wait for `beforeWrite`, as for a slow disk. */
class Server {
  readonly registries: Registries;
  readonly catalog: Catalog;
  readonly quotas: QuotaAccountant;
  readonly maps: Registry;
  beforeWrite: () => Promise<void> = async () => {};

  constructor(id: string) {
    servers.add(id);
    const linked = new Proxy(store, {
      get: (target, property) => {
        if (property === "commit") return commit;
        const value = Reflect.get(target, property, target) as unknown;
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const commit: Store["commit"] = async (command) => {
      if (command.key.startsWith("/registry/configmaps/")) await this.beforeWrite();
      return store.commit(command);
    };
    const cachers = cleanup.adopt(new CacherSet({ store: linked, clock: systemClock }), (set) => set.close());
    const known = {
      id,
      get isAlone() {
        return servers.size === 1;
      },
      joinedMs: 60_000,
      has: (other: string) => servers.has(other),
    };
    const parts = { catalog: builtInCatalog(scheme), store: linked, cachers, clock: systemClock, randomInt: () => 0 };
    this.catalog = parts.catalog;
    const { registries, quotas } = openRegistries({ ...parts, servers: known });
    this.registries = registries;
    this.quotas = quotas;
    this.maps = this.registries.builtIn({ group: "", resource: "configmaps" });
    cleanup.use(this.quotas.follow());
  }

  async create(name: string): Promise<boolean> {
    try {
      const object = { kind: "ConfigMap", apiVersion: "v1", metadata: { name, namespace } } as KubeObject;
      await this.maps.create(object, namespace, serverContext);
      return true;
    } catch (error) {
      if (error instanceof StatusError && error.message.includes("exceeded quota")) return false;
      throw error;
    }
  }

  async delete(name: string): Promise<void> {
    await this.maps.delete(namespace, name, plainDeletion, serverContext);
  }

  lead(): this {
    const { registries, catalog, quotas } = this;
    const parts = { registries, catalog, quotas, store, clock: systemClock };
    cleanup.use(new QuotaUsage(parts, this.registries.builtIn(resourceQuotas)).start());
    return this;
  }
}

async function limit(server: Server, maps: number): Promise<void> {
  const create = (resource: string, object: object) =>
    server.registries.builtIn({ group: "", resource }).create(object as KubeObject, namespace, serverContext);
  await server.registries
    .builtIn({ group: "", resource: "namespaces" })
    .create({ kind: "Namespace", apiVersion: "v1", metadata: { name: namespace } }, "", serverContext);
  const quota = { metadata: { name: "q", namespace }, spec: { hard: { "count/configmaps": String(maps) } } };
  await create("resourcequotas", { kind: "ResourceQuota", apiVersion: "v1", ...quota });
  await until(() => used(server) !== undefined);
}

function used(server: Server): string | undefined {
  const quota = server.registries.builtIn(resourceQuotas).current(namespace, "q") as any;
  return quota?.status?.used?.["count/configmaps"];
}

/** Returns a leading server and another one with the same limit. */
async function two(maps: number): Promise<[Server, Server]> {
  const servers: [Server, Server] = [new Server("a").lead(), new Server("b")];
  await limit(servers[0], maps);
  return servers;
}

/** Accepts an object on the server and lets its write hang. */
async function hang(server: Server, counting: Server): Promise<void> {
  server.beforeWrite = () => new Promise(() => {});
  void server.create("never");
  await until(() => used(counting) === "1");
}

/** Stores one object on `a` and accepts another on `b`. The returned function lets `b` store it. */
async function oneOnItsWay(a: Server, b: Server) {
  await a.create("first");
  const gate = Promise.withResolvers<void>();
  b.beforeWrite = () => gate.promise;
  const created = b.create("second");
  await until(() => used(a) === "2");
  return () => {
    gate.resolve();
    return created;
  };
}

const stored = () => store.scan(`/registry/configmaps/${namespace}/`).length;

test("a count includes requests that another server has accepted and not stored yet", async () => {
  const [a, b] = await two(2);
  const finish = await oneOnItsWay(a, b);
  await a.delete("first");
  await until(() => used(a) === "1");
  expect(await a.create("third")).toBe(true);
  expect(await a.create("fourth")).toBe(false);
  expect(await finish()).toBe(true);
  await until(() => store.scan(chargesPrefix).length === 0);
  await until(() => used(a) === "2");
  expect(stored()).toBe(2);
});

test("a count that included the charge of a stored object is corrected", async () => {
  const [a, b] = await two(3);
  const finish = await oneOnItsWay(a, b);
  await finish();
  a.quotas.recount(namespace);
  await until(() => used(a) === "2");
});

test("charges of a server that has left are not counted and are removed", async () => {
  const [a, b] = await two(1);
  await hang(b, a);
  servers.delete("b");
  await a.quotas.meet(store.revision);
  expect(store.scan(chargesPrefix)).toEqual([]);
  a.quotas.recount(namespace);
  await until(() => used(a) === "0");
  expect(await a.create("first")).toBe(true);
});

test("a server that is alone writes only the quota", async () => {
  const a = new Server("a").lead();
  await limit(a, 2);
  const { revision } = store;
  await a.create("first");
  await Bun.sleep(60);
  expect(store.revision - revision).toBe(2);
});

test("a server that is no longer alone publishes its charges", async () => {
  const a = new Server("a").lead();
  await limit(a, 2);
  await hang(a, a);
  expect(store.scan(chargesPrefix)).toEqual([]);
  const b = new Server("b");
  await a.quotas.meet(store.revision);
  await until(() => store.scan(chargesPrefix).length === 1);
  b.quotas.recount(namespace);
  await Bun.sleep(60);
  expect(used(b)).toBe("1");
});

test("charges that others removed because they considered this server gone are published again", async () => {
  const [a, b] = await two(2);
  await hang(b, a);
  servers.delete("b");
  await a.quotas.meet(store.revision);
  expect(store.scan(chargesPrefix)).toEqual([]);
  servers.add("b");
  await b.quotas.meet(store.revision);
  await until(() => store.scan(chargesPrefix).length === 1);
});

const seed = Number(Bun.env["SEED"] ?? Date.now() % 2 ** 31);

test(`the limit holds however three servers create and delete (SEED=${seed})`, async () => {
  const limitOfMaps = 5;
  let state = seed;
  const random = (below: number) =>
    Math.floor(((state = (state * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31) * below);
  const three = [new Server("a").lead(), new Server("b"), new Server("c")];
  await limit(three[0] as Server, limitOfMaps);
  for (const server of three) server.beforeWrite = () => Bun.sleep(random(25));
  let [most, created, count] = [0, 0, 0];
  using _watching = store.subscribe(() => (most = Math.max(most, stored())));
  const work = async (server: Server) => {
    for (let turn = 0; turn < 25; turn++) {
      const name = `m${count++}`;
      if (!(await server.create(name))) await Bun.sleep(random(10));
      else {
        created++;
        await Bun.sleep(random(10));
        await server.delete(name);
      }
    }
  };
  await Promise.all(three.flatMap((server) => [work(server), work(server)]));
  expect(most).toBeLessThanOrEqual(limitOfMaps);
  expect(created).toBeGreaterThan(20);
  await until(() => used(three[0] as Server) === "0");
  expect(store.scan(chargesPrefix)).toEqual([]);
}, 60_000);

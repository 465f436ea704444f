import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Clock } from "../../src/process/clock.ts";
import { startServerOn } from "../../src/server/server.ts";
import { MemoryStore } from "../../src/storage/memory-store.ts";
import { until } from "../until.ts";
import { TestServer } from "./server.ts";

/** Factor by which time passes faster: fifteen seconds take one. */
const haste = 15;
const startMs = Date.now();
const hasty: Clock = {
  nowMs: () => startMs + (Date.now() - startMs) * haste,
  steadyMs: () => performance.now() * haste,
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs / haste);
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
  every(intervalMs, run) {
    const timer = setInterval(run, intervalMs / haste);
    return { [Symbol.dispose]: () => clearInterval(timer) };
  },
};

const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
const endpoints = "/api/v1/namespaces/default/endpoints/kubernetes";

let store: MemoryStore;
let running: TestServer[];

beforeEach(() => {
  store = new MemoryStore();
  running = [];
});
afterEach(async () => {
  for (const server of running) await server.close();
  await store.close();
});

/** @param shared a view of the store, so that a test can cut off a server */
async function start(shared: MemoryStore = store): Promise<TestServer> {
  const options = { clock: hasty, controllers: "*", authorizationMode: ["RBAC"] as const };
  const server = TestServer.of(await startServerOn(shared, options));
  running.push(server);
  return server;
}

async function untilEqual<T>(read: () => Promise<T>, expected: T): Promise<void> {
  await until(read, (value) => Bun.deepEquals(value, expected));
}

const portsAt = (server: TestServer) => async () =>
  ((await server.get(endpoints)).json.subsets ?? []).map(({ ports }: any) => ports[0].port);
const holderAt = (server: TestServer) => async () =>
  (await server.get(`${leases}/quorate-controllers`)).json.spec?.holderIdentity;

test("the service of the servers names all that run: one that goes is taken out at once, a dead one in time", async () => {
  const cut = cuttable();
  const [a, b] = [await start(), await start()];
  const c = await start(cut.store);
  const all = [a, b, c].map(({ running: { port } }) => port).toSorted((x, y) => x - y);
  await untilEqual(portsAt(a), all);
  await running.splice(running.indexOf(b), 1)[0]?.close();
  expect(await portsAt(a)()).toEqual(all.filter((port) => port !== b.running.port));
  cut.isCut = true;
  await untilEqual(portsAt(a), [a.running.port]);
  const slices = (await a.get("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices")).json.items;
  expect(slices.map(({ metadata, ports }: any) => [metadata.name, ports[0].port])).toEqual([
    ["kubernetes", a.running.port],
  ]);
}, 60_000);

test("each server has its identity Lease; the leader removes those that are over", async () => {
  const a = await start();
  await start();
  const selector = "labelSelector=apiserver.kubernetes.io/identity%3Dkube-apiserver";
  const names = async () => (await a.get(`${leases}?${selector}`)).json.items;
  await untilEqual(async () => (await names()).length, 2);
  for (const { metadata, spec } of await names()) {
    expect(metadata.name).toMatch(/^apiserver-[a-z2-7]{26}$/);
    expect(spec.holderIdentity.startsWith(`${metadata.name}_`)).toBe(true);
    expect(spec.leaseDurationSeconds).toBe(3_600);
    expect(metadata.labels["kubernetes.io/hostname"]).not.toBe("");
  }
}, 60_000);

test("one of them runs the controllers; another takes over at once when it stops, or in time when it is cut off", async () => {
  const cut = cuttable();
  const first = await start();
  await untilEqual(async () => (await holderAt(first)()) !== undefined, true);
  const second = await start(cut.store);
  const third = await start();
  const before = await holderAt(third)();
  const hasAccount = (namespace: string) => async () =>
    (await third.get(`/api/v1/namespaces/${namespace}/serviceaccounts/default`)).code;
  await untilEqual(hasAccount(await third.namespace()), 200);
  await running.shift()?.close();
  await untilEqual(async () => ![undefined, before].includes(await holderAt(third)()), true);
  // The other server takes over or continues, whichever of the two leads now.
  cut.isCut = true;
  await untilEqual(hasAccount(await third.namespace()), 200);
  const left = await third.namespace();
  expect((await third.delete(`/api/v1/namespaces/${left}`)).code).toBe(200);
  await untilEqual(async () => (await third.get(`/api/v1/namespaces/${left}`)).code, 404);
  expect(second.running.port).not.toBe(third.running.port);
}, 60_000);

/** A view of the store that takes no more writes once it is cut, as a store without a quorum. */
function cuttable(): { store: MemoryStore; isCut: boolean } {
  const never = new Promise<never>(() => {});
  const view = {
    isCut: false,
    store: new Proxy(store, {
      get(target, property) {
        if (property === "commit" && view.isCut) return () => never;
        const value = Reflect.get(target, property, target) as unknown;
        return typeof value === "function" ? value.bind(target) : value;
      },
    }),
  };
  return view;
}

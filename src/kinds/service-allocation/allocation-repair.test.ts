import { afterEach, beforeEach, expect, test } from "bun:test";
import { systemUser } from "../../access/authentication/system-user.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { systemClock } from "../../process/clock.ts";
import { plainDeletion } from "../../registry/delete-options.ts";
import type { Registry } from "../../registry/registry.ts";
import type { DeleteOptions } from "../../registry/strategy.ts";
import type { WriteContext } from "../../registry/write-context.ts";
import { openRegistries } from "../../server/registries.ts";
import { CacherSet } from "../../storage/cacher/cacher-set.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { StoreUnavailableError } from "../../storage/store.ts";
import { builtInCatalog } from "../built-in-catalog.ts";
import { Scheme } from "../scheme.ts";
import type { AllocationRepair } from "./allocation-repair.ts";
import { nodePortPrefix } from "./node-port-allocator.ts";
import { parseServiceNetwork } from "./service-network.ts";

const scheme = Scheme.builtIn();
const context: WriteContext = { user: systemUser, manager: "test", dryRun: false, warn() {} };
const atOnce: DeleteOptions = { ...plainDeletion, propagationPolicy: "Background" };

let store: MemoryStore;
let cachers: CacherSet;
let services: Registry;
let addresses: Registry;
let repair: AllocationRepair;

beforeEach(async () => {
  store = new MemoryStore();
  cachers = new CacherSet({ store, clock: systemClock });
  const { registries, serviceAllocation } = openRegistries({
    catalog: builtInCatalog(scheme),
    store,
    cachers,
    clock: systemClock,
    randomInt: () => 0,
    serviceNetwork: parseServiceNetwork("10.0.0.0/24", "30000-30100"),
  });
  services = registries.find({ group: "", resource: "services" }) as Registry;
  addresses = registries.find({ group: "networking.k8s.io", resource: "ipaddresses" }) as Registry;
  repair = serviceAllocation?.repair() as AllocationRepair;
  const namespaces = registries.find({ group: "", resource: "namespaces" }) as Registry;
  await namespaces.create({ kind: "Namespace", apiVersion: "v1", metadata: { name: "ns" } }, "", context);
});

afterEach(async () => {
  cachers.close();
  await store.close();
});

function service(name: string, clusterIP = ""): KubeObject {
  const spec = { type: "NodePort", ports: [{ port: 80 }], ...(clusterIP === "" ? {} : { clusterIP }) };
  return { kind: "Service", apiVersion: "v1", metadata: { name, namespace: "ns" }, spec };
}

const create = async (name: string, clusterIP?: string) =>
  (await services.create(service(name, clusterIP), "ns", context)).object["spec"] as any;
const addressNames = () => store.scan(addresses.info.keyPrefix).map(({ key }) => key.split("/").at(-1));
const ports = () => store.scan(nodePortPrefix).map(({ key }) => Number(key.split("/").at(-1)));

/** Fails the next write of a Service as if the disk did: its outcome is unknown. */
function loseNextServiceWrite(applied: boolean): void {
  const commit = store.commit.bind(store);
  store.commit = async (command) => {
    if (!command.key.startsWith(services.info.keyPrefix)) return commit(command);
    store.commit = commit;
    if (applied) await commit(command);
    throw new StoreUnavailableError("no answer");
  };
}

test("in order it changes nothing", async () => {
  await create("a");
  await create("b");
  expect(await repair.run(store.revision)).toEqual({ released: 0, claimed: 0, conflicts: [] });
});

test("claims of a write without an outcome are kept until no Service is known to hold them", async () => {
  loseNextServiceWrite(false);
  const before = store.revision;
  await expect(create("lost")).rejects.toThrow("no answer");
  expect([addressNames().length, ports().length]).toEqual([1, 1]);
  expect(await repair.run(before)).toMatchObject({ released: 0 });
  expect(await repair.run(store.revision)).toMatchObject({ released: 2 });
  expect([addressNames().length, ports().length]).toEqual([0, 0]);
});

test("a Service whose write had no answer but was applied keeps what it claimed", async () => {
  loseNextServiceWrite(true);
  await expect(create("applied")).rejects.toThrow("no answer");
  expect(await repair.run(store.revision)).toEqual({ released: 0, claimed: 0, conflicts: [] });
  expect([addressNames().length, ports().length]).toEqual([1, 1]);
});

test("an address or port of a Service without a record is recorded again", async () => {
  const { clusterIP, ports: held } = await create("a");
  await addresses.delete("", clusterIP, atOnce, context);
  const [record] = store.scan(nodePortPrefix);
  await store.commit({
    key: record?.key as string,
    expect: { kind: "any" },
    operation: { kind: "delete", last: { prefix: new Uint8Array(), suffix: new Uint8Array() } },
  });
  expect(await repair.run(store.revision)).toEqual({ released: 0, claimed: 2, conflicts: [] });
  expect(addressNames()).toEqual([clusterIP]);
  expect(ports()).toEqual([held[0].nodePort]);
});

test("an address that two Services hold is named", async () => {
  const { clusterIP } = await create("a");
  await addresses.delete("", clusterIP, atOnce, context);
  await create("b", clusterIP);
  const { conflicts } = await repair.run(store.revision);
  expect(conflicts).toEqual([`service ns/a holds ${clusterIP}, which belongs to ns/b`]);
});

test("addresses that something else has made are left alone", async () => {
  const spec = { parentRef: { resource: "services", namespace: "ns", name: "none" } };
  const kind = { kind: "IPAddress", apiVersion: "networking.k8s.io/v1" };
  await addresses.create({ ...kind, metadata: { name: "10.0.0.9" }, spec }, "", context);
  expect(await repair.run(store.revision)).toMatchObject({ released: 0 });
});

test("an address is reclaimed only for a Service that still holds it", async () => {
  const { clusterIP } = await create("a");
  const object = addresses.current("", clusterIP) as KubeObject;
  await addresses.delete("", clusterIP, atOnce, context);
  await repair.reclaim(object);
  expect(addressNames()).toEqual([clusterIP]);
  await services.delete("ns", "a", atOnce, context);
  await repair.reclaim(object);
  expect(addressNames()).toEqual([]);
});

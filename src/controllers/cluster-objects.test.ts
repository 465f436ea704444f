import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { systemUser } from "../access/authentication/system-user.ts";
import type { GroupResource } from "../api/gvk.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { builtInCatalog } from "../kinds/built-in-catalog.ts";
import { Scheme } from "../kinds/scheme.ts";
import { parseServiceNetwork } from "../kinds/service-allocation/service-network.ts";
import { systemClock } from "../process/clock.ts";
import type { Registries } from "../registry/registries.ts";
import type { Registry } from "../registry/registry.ts";
import type { WriteContext } from "../registry/write-context.ts";
import { openRegistries } from "../server/registries.ts";
import { CacherSet } from "../storage/cacher/cacher-set.ts";
import { MemoryStore } from "../storage/memory-store.ts";
import { announcedAddress, KubernetesService } from "./kubernetes-service.ts";
import { rootCaPublisher } from "./root-ca-publisher.ts";
import { defaultServiceAccounts } from "./service-accounts.ts";

const scheme = Scheme.builtIn();
const context: WriteContext = { user: systemUser, manager: "test", dryRun: false, warn() {} };
const network = parseServiceNetwork("10.0.0.0/24", "30000-32767");

let store: MemoryStore;
let cachers: CacherSet;
let registries: Registries;
let errors: unknown[];

beforeEach(async () => {
  store = new MemoryStore();
  cachers = new CacherSet({ store, clock: systemClock });
  errors = [];
  registries = openRegistries({
    catalog: builtInCatalog(scheme),
    store,
    cachers,
    clock: systemClock,
    randomInt: () => 0,
    serviceNetwork: network,
  }).registries;
  await createNamespace("default");
});

afterEach(async () => {
  cachers.close();
  await store.close();
  expect(errors).toEqual([]);
});

const registry = (resource: GroupResource) => registries.find(resource) as Registry;
const core = (resource: string) => registry({ group: "", resource });
const onError = (error: unknown) => errors.push(error);

async function createNamespace(name: string): Promise<void> {
  await core("namespaces").create({ kind: "Namespace", apiVersion: "v1", metadata: { name } }, "", context);
}

async function eventually<T>(read: () => T, isSo: (value: T) => boolean): Promise<T> {
  for (let turns = 0; turns < 200; turns++) {
    const value = read();
    if (isSo(value)) return value;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error("it does not come to be so");
}

describe("the service of the server itself", () => {
  const serving = (...endpoints: readonly [port: number, address: string | undefined][]) => {
    const all = () => endpoints.map(([port, address], at) => ({ id: String(at), port, address }));
    const servers = { all, follow: () => ({ [Symbol.dispose]() {} }), leave: async () => {} };
    return new KubernetesService({ registry, network, clock: systemClock, servers, onError });
  };
  const make = (port: number, address = "192.0.2.7") => serving([port, address]);

  test("is created once and then left alone", async () => {
    await make(6443).ensure();
    const { revision } = store;
    await make(6443).ensure();
    expect(store.revision).toBe(revision);
  });

  test("follows the port, and is restored when it is deleted or changed", async () => {
    await make(6443).ensure();
    const labels = (object: KubeObject) => ({ ...object, metadata: { ...object.metadata, labels: { mine: "x" } } });
    await core("services").update("default", "kubernetes", labels, context);
    await make(7443).ensure();
    const service = core("services").current("default", "kubernetes") as any;
    expect(service.metadata.labels).toEqual({ mine: "x", component: "apiserver", provider: "kubernetes" });
    expect(service.spec.ports[0].targetPort).toBe(7443);
    const endpoints = core("endpoints").current("default", "kubernetes") as any;
    expect(endpoints.subsets).toEqual([
      { addresses: [{ ip: "192.0.2.7" }], ports: [{ name: "https", port: 7443, protocol: "TCP" }] },
    ]);
  });

  test("has a slice of the address family by which it is reached", async () => {
    const slices = registry({ group: "discovery.k8s.io", resource: "endpointslices" });
    const family = () => slices.current("default", "kubernetes")?.["addressType"];
    await make(6443, "192.0.2.7").ensure();
    expect(family()).toBe("IPv4");
    await make(6443, "2001:db8::7").ensure();
    expect(family()).toBe("IPv6");
  });

  test("has no address where other machines cannot reach it", async () => {
    await serving([6443, undefined]).ensure();
    const slice = registry({ group: "discovery.k8s.io", resource: "endpointslices" }).current("default", "kubernetes");
    expect(slice?.["endpoints"] ?? []).toEqual([]);
    expect((core("services").current("default", "kubernetes") as any).spec.ports[0].targetPort).toBe(6443);
  });

  test("names every server, with separate slices for another port or family that are removed with their servers", async () => {
    const slices = registry({ group: "discovery.k8s.io", resource: "endpointslices" });
    const told = () =>
      store.scan(slices.info.keyPrefix).map(({ key }) => {
        const slice = slices.current("default", key.slice(key.lastIndexOf("/") + 1)) as any;
        const addresses = (slice.endpoints ?? []).flatMap((endpoint: any) => endpoint.addresses);
        return [slice.metadata.name, slice.addressType, slice.ports?.[0]?.port, addresses];
      });
    await serving([6444, "192.0.2.9"], [6443, "192.0.2.8"], [6443, "2001:db8::1"], [6443, "192.0.2.7"]).ensure();
    expect(told()).toEqual([
      ["kubernetes", "IPv4", 6443, ["192.0.2.7", "192.0.2.8"]],
      ["kubernetes-ipv4-6444", "IPv4", 6444, ["192.0.2.9"]],
      ["kubernetes-ipv6-6443", "IPv6", 6443, ["2001:db8::1"]],
    ]);
    const endpoints = core("endpoints").current("default", "kubernetes") as any;
    expect(endpoints.subsets.map(({ addresses, ports }: any) => [ports[0].port, addresses.length])).toEqual([
      [6443, 3],
      [6444, 1],
    ]);
    await serving([6444, "192.0.2.9"]).ensure();
    expect(told()).toEqual([["kubernetes", "IPv4", 6444, ["192.0.2.9"]]]);
    await serving().ensure();
    expect(told()).toEqual([["kubernetes", "IPv4", undefined, []]]);
    expect((core("services").current("default", "kubernetes") as any).spec.ports[0].targetPort).toBe(6444);
  });

  test.each([
    ["192.0.2.9", "192.0.2.9"],
    ["2001:DB8::1", "2001:db8::1"],
  ])("a server on %s announces %s", (bind, announced) => {
    expect(announcedAddress(bind, "IPv4")).toBe(announced);
  });

  test.each(["127.0.0.1", "0.0.0.0", "::", "::1"])(
    "a server on %s announces another address of the machine",
    (bind) => {
      expect(["127.0.0.1", "0.0.0.0", "::", "::1"]).not.toContain(announcedAddress(bind, "IPv4") as string);
    },
  );
});

describe("objects of every namespace", () => {
  const parts = () => ({ namespaces: core("namespaces"), store, clock: systemClock, onError });
  const accounts = () => core("serviceaccounts");

  test("are created with the namespace, also for existing ones, and restored", async () => {
    using _running = defaultServiceAccounts({ ...parts(), objects: accounts() }).start();
    await createNamespace("later");
    const account = (namespace: string) => accounts().current(namespace, "default");
    const first = await eventually(() => account("default"), Boolean);
    await eventually(() => account("later"), Boolean);
    const now = { uid: undefined, resourceVersion: undefined };
    const options = { gracePeriodSeconds: 0, propagationPolicy: undefined, orphanDependents: undefined };
    await accounts().delete("default", "default", { ...options, preconditions: now, dryRun: false }, context);
    const second = await eventually(() => account("default"), Boolean);
    expect(second?.metadata.uid).not.toBe(first?.metadata.uid);
  });

  test("may be changed by clients, unless they contain the authority", async () => {
    using _accounts = defaultServiceAccounts({ ...parts(), objects: accounts() }).start();
    let changed = () => {};
    const ca = {
      pem: () => authority,
      follow: (run: () => void) => {
        changed = run;
        return { [Symbol.dispose]: () => {} };
      },
    };
    let authority = "PEM";
    using _maps = rootCaPublisher({ ...parts(), objects: core("configmaps") }, ca).start();
    const map = () => core("configmaps").current("default", "kube-root-ca.crt") as any;
    await eventually(map, Boolean);
    await eventually(() => accounts().current("default", "default"), Boolean);
    const automount = (old: KubeObject) => ({ ...old, automountServiceAccountToken: false });
    await accounts().update("default", "default", automount, context);
    await core("configmaps").update("default", "kube-root-ca.crt", (old) => ({ ...old, data: {} }), context);
    await eventually(map, ({ data }) => data?.["ca.crt"] === "PEM");
    expect(accounts().current("default", "default")?.["automountServiceAccountToken"]).toBe(false);
    authority = "PEM and the next one";
    changed();
    await eventually(map, ({ data }) => data?.["ca.crt"] === authority);
  });

  test("are no longer created after the stop", async () => {
    defaultServiceAccounts({ ...parts(), objects: accounts() })
      .start()
      [Symbol.dispose]();
    await createNamespace("after");
    for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
    expect(accounts().current("after", "default")).toBeUndefined();
  });
});

import { expect, test } from "bun:test";
import { systemUser } from "../../access/authentication/system-user.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { StatusError } from "../../api/status.ts";
import type { Service } from "../../api/types/core-v1.ts";
import { systemClock } from "../../process/clock.ts";
import { plainDeletion } from "../../registry/delete-options.ts";
import type { Registry } from "../../registry/registry.ts";
import type { DeleteOptions } from "../../registry/strategy.ts";
import type { WriteContext } from "../../registry/write-context.ts";
import { openRegistries } from "../../server/registries.ts";
import { CacherSet } from "../../storage/cacher/cacher-set.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { builtInCatalog } from "../built-in-catalog.ts";
import { Scheme } from "../scheme.ts";
import { nodePortPrefix } from "./node-port-allocator.ts";
import { addressesOf, nodePortsOf } from "./service-allocator.ts";
import { parseServiceNetwork } from "./service-network.ts";

const scheme = Scheme.builtIn();
const context: WriteContext = { user: systemUser, manager: "test", dryRun: false, warn() {} };
const options: DeleteOptions = { ...plainDeletion, propagationPolicy: "Background" };
const types = ["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"];
const policies = ["SingleStack", "PreferDualStack", "RequireDualStack"];
const roundsMax = 12;
const writersMax = 25;

/** mulberry32 */
function chance(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

/** Returns the ports of upstream's bitmap, whose last byte has the first eight. */
function bits(store: MemoryStore): number[] {
  const entry = store.get("/registry/ranges/servicenodeports");
  if (entry === undefined) return [];
  const { data } = JSON.parse(Buffer.from(entry.body).toString()) as { data?: string };
  const number = BigInt(`0x0${Buffer.from(data ?? "", "base64").toString("hex")}`);
  return Array.from({ length: 16 }, (_, at) => 30_000 + at).filter((port) => (number >> BigInt(port - 30_000)) & 1n);
}

/**
 * Writers create, change and delete a handful of Services at the same time, on two servers that share a store, in ranges so
 * small that they are always in each other's way. When all is quiet, exactly what Services hold is taken, and nothing twice.
 */
test.each([
  ["in our own records", false],
  ["in upstream's bitmap", true],
])(
  "concurrent writers allocate exactly what Services hold, each once, %s",
  async (_, isOnEtcd) => {
    const seed = Number(Bun.env["SEED"] ?? Date.now() % 1_000_000);
    console.log(`replay: SEED=${seed} bun test src/kinds/service-allocation/service-allocation.test.ts`);
    const random = chance(seed);
    const store = new MemoryStore();
    const cacherSets: CacherSet[] = [];
    const newServer = () => {
      const cachers = new CacherSet({ store, clock: systemClock });
      cacherSets.push(cachers);
      return openRegistries({
        catalog: builtInCatalog(scheme),
        store,
        cachers,
        clock: systemClock,
        randomInt: random,
        isOnEtcd,
        serviceNetwork: parseServiceNetwork("10.0.0.0/28,fd00::/124", "30000-30015"),
      }).registries;
    };
    const [registries, others] = [newServer(), newServer()];
    const services = registries.builtIn({ group: "", resource: "services" });
    const servicesOf = [services, others.builtIn({ group: "", resource: "services" })];
    const addresses = registries.find({ group: "networking.k8s.io", resource: "ipaddresses" }) as Registry;
    const namespaces = registries.find({ group: "", resource: "namespaces" }) as Registry;
    await namespaces.create({ kind: "Namespace", apiVersion: "v1", metadata: { name: "ns" } }, "", context);

    const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;
    const spec = (): NonNullable<Service["spec"]> & { externalName?: string } => {
      const type = pick(types);
      const ports = [
        { name: "a", port: 80, ...(random(4) === 0 ? { nodePort: 30_000 + random(16) } : {}) },
        ...(random(2) === 0 ? [{ name: "b", port: 81 }] : []),
      ].map(({ name, port, ...asked }) => (type === "ClusterIP" ? { name, port } : { name, port, ...asked }));
      if (type === "ExternalName") return { type, externalName: "example.com" };
      return {
        type,
        ports,
        ipFamilyPolicy: pick(policies) as "SingleStack",
        ...(random(5) === 0 ? { clusterIP: `10.0.0.${random(16)}` } : {}),
        ...(type === "LoadBalancer" && random(2) === 0 ? { externalTrafficPolicy: "Local" } : {}),
      };
    };
    const object = (name: string): KubeObject =>
      ({ kind: "Service", apiVersion: "v1", metadata: { name, namespace: "ns" }, spec: spec() }) as KubeObject;
    let done = 0;
    const write = async (): Promise<void> => {
      const name = `s${random(8)}`;
      const server = pick(servicesOf);
      try {
        const what = random(4);
        const dryRun = random(10) === 0;
        if (what === 0) await server.delete("ns", name, { ...options, dryRun }, { ...context, dryRun });
        else if (what === 1) await server.create(object(name), "ns", { ...context, dryRun });
        else await server.update("ns", name, () => object(name), { ...context, dryRun });
        done++;
      } catch (error) {
        if (!(error instanceof StatusError)) throw error;
      }
    };

    for (let round = 0; round < roundsMax; round++) {
      await Promise.all(Array.from({ length: 1 + random(writersMax) }, write));
      const held = store.scan(services.info.keyPrefix).map(({ key }) => {
        const current = services.current("ns", key.split("/").at(-1) as string) as Service;
        return { addresses: addressesOf(current.spec ?? {}), ports: nodePortsOf(current.spec ?? {}) };
      });
      const namesBelow = (prefix: string) => store.scan(prefix).map(({ key }) => key.split("/").at(-1) as string);
      expect(held.flatMap((one) => one.addresses).toSorted()).toEqual(namesBelow(addresses.info.keyPrefix).toSorted());
      const taken = isOnEtcd ? bits(store) : namesBelow(nodePortPrefix).map(Number);
      expect(held.flatMap((one) => one.ports).toSorted()).toEqual(taken.toSorted());
    }
    expect(done).toBeGreaterThan(roundsMax);
    for (const cachers of cacherSets) cachers.close();
    await store.close();
  },
  60_000,
);

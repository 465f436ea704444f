import { networkInterfaces } from "node:os";
import type { GroupResource } from "../api/gvk.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { StatusError } from "../api/status.ts";
import type { Endpoints, Service } from "../api/types/core-v1.ts";
import type { EndpointSlice } from "../api/types/discovery-v1.ts";
import { type IpFamily, parseIp } from "../api/validation/ip.ts";
import { managedByLabel, serviceNameLabel } from "../kinds/discovery/endpoint-slice-labels.ts";
import { firstAddress } from "../kinds/service-allocation/ip-range.ts";
import type { ServiceNetwork } from "../kinds/service-allocation/service-allocation.ts";
import { atMost } from "../process/at-most.ts";
import type { Clock } from "../process/clock.ts";
import type { Registry } from "../registry/registry.ts";
import { removeObject } from "../registry/remove-object.ts";
import { serverContext } from "../registry/server-context.ts";
import type { ServerRecords } from "./server-records.ts";
import { type QueueSource, WorkQueue } from "./work-queue.ts";

const namespace = "default";
const name = "kubernetes";
/** Interval at which the objects are checked and restored. */
const checkIntervalMs = 10_000;
/** Maximum time that a stopping server waits for the removal of its address. The others remove it too. */
const leaveMsMax = 1_000;
/** Manager of additional slices, which are removed when they are no longer needed. */
const manager = "quorate";
const endpointsResource: GroupResource = { group: "", resource: "endpoints" };
const slicesResource: GroupResource = { group: "discovery.k8s.io", resource: "endpointslices" };

export interface KubernetesServiceParts extends QueueSource {
  readonly registry: (resource: GroupResource) => Registry;
  readonly network: ServiceNetwork;
  readonly clock: Clock;
  readonly servers: Pick<ServerRecords, "all" | "follow" | "leave">;
  readonly onError: (error: unknown) => void;
}

/** The servers of one port and family, which share an EndpointSlice. */
interface EndpointGroup {
  readonly family: IpFamily;
  readonly port: number;
  readonly addresses: readonly string[];
}

/**
 * Maintains the objects by which clients inside the cluster find the servers: the ServiceCIDR, Service, Endpoints and
 * EndpointSlice named `kubernetes`. Every server does this. The objects depend only on the servers' records, so all
 * servers write the same. Starts once this server answers, and removes the server when it stops.
 */
export class KubernetesService {
  readonly #parts: KubernetesServiceParts;
  readonly #queue: WorkQueue;
  #running: DisposableStack | undefined;
  #left: Promise<void> | undefined;

  constructor(parts: KubernetesServiceParts) {
    this.#parts = parts;
    const { clock, observeQueue, onError } = parts;
    this.#queue = new WorkQueue({
      name: "kubernetes_service",
      clock,
      observeQueue,
      onError,
      work: () => this.ensure(),
    });
  }

  start(): Disposable {
    const { clock, servers } = this.#parts;
    const running = new DisposableStack();
    const check = () => this.#queue.add(name);
    running.use(this.#queue);
    running.use(servers.follow(check));
    running.use(clock.every(checkIntervalMs, check));
    check();
    this.#running = running;
    return running;
  }

  /** Removes this server, so that clients use the others. Resolves when that is written, or after a time limit. */
  leave(): Promise<void> {
    this.#left ??= this.#leave();
    return this.#left;
  }

  /** Resolves when all objects are correct. */
  async ensure(): Promise<void> {
    await this.#ensureCidr();
    // Without servers the port is unknown.
    if (this.#port() !== undefined) await this.#ensure({ group: "", resource: "services" }, () => this.#service());
    await this.#ensure(endpointsResource, () => this.#endpoints());
    await this.#ensureSlices();
  }

  async #leave(): Promise<void> {
    const { servers, clock } = this.#parts;
    this.#running?.dispose();
    await servers.leave();
    // If this write fails, another server writes it, or this one after its restart.
    await atMost(
      clock,
      leaveMsMax,
      this.ensure().catch(() => undefined),
    );
  }

  async #ensureCidr(): Promise<void> {
    const { registry, network } = this.#parts;
    const cidrs = registry({ group: "networking.k8s.io", resource: "servicecidrs" });
    if (cidrs.current("", name) !== undefined) return;
    const spec = { cidrs: network.clusterIps.map(({ text }) => text) };
    const cidr = { kind: "ServiceCIDR", apiVersion: "networking.k8s.io/v1", metadata: { name }, spec };
    await orExisting(cidrs.create(cidr, "", serverContext));
  }

  /**
   * Creates the object, or sets the fields of `wanted` and leaves other fields alone.
   * @param wanted called again if another server was faster, because its state may be newer
   */
  async #ensure(resource: GroupResource, wanted: () => KubeObject): Promise<void> {
    const registry = this.#parts.registry(resource);
    const first = wanted();
    const { name: objectName = "" } = first.metadata;
    const current = registry.current(namespace, objectName);
    // A slice cannot change its family, so a server that changed its family needs a new slice.
    const isReplaced = current !== undefined && familyOf(current) !== familyOf(first);
    if (isReplaced) await removeObject(registry, current, serverContext);
    if (current === undefined || isReplaced) {
      await orExisting(registry.create(first, namespace, serverContext));
      return;
    }
    const options = { reapplies: true };
    await registry.update(namespace, objectName, (old) => withFields(old, wanted()), serverContext, options);
  }

  async #ensureSlices(): Promise<void> {
    const registry = this.#parts.registry(slicesResource);
    const wanted = this.#slices();
    for (const slice of wanted) {
      const fresh = () => this.#slices().find(({ metadata }) => metadata.name === slice.metadata.name) ?? slice;
      await this.#ensure(slicesResource, fresh);
    }
    const names = new Set(wanted.map(({ metadata }) => metadata.name));
    const page = await registry.cacher.list({ prefix: `${registry.info.keyPrefix}${namespace}/${name}-` });
    for (const { key, index } of page.entries) {
      const found = key.slice(key.lastIndexOf("/") + 1);
      if (index.labels?.[managedByLabel] !== manager || names.has(found)) continue;
      const slice = registry.current(namespace, found);
      if (slice !== undefined) await removeObject(registry, slice, serverContext);
    }
  }

  #service(): Service {
    const [range] = this.#parts.network.clusterIps;
    if (range === undefined) throw new Error("there is no range for cluster IPs");
    const targetPort = this.#port() ?? 443;
    return {
      kind: "Service",
      apiVersion: "v1",
      metadata: { name, namespace, labels: { component: "apiserver", provider: "kubernetes" } },
      spec: {
        type: "ClusterIP",
        clusterIP: firstAddress(range),
        clusterIPs: [firstAddress(range)],
        ipFamilies: [range.family],
        ipFamilyPolicy: "SingleStack",
        sessionAffinity: "None",
        ports: [{ name: "https", protocol: "TCP", port: 443, targetPort }],
      },
    };
  }

  #endpoints(): Endpoints {
    const byPort = Map.groupBy(this.#groups(), ({ port }) => port);
    const subsets = [...byPort].map(([port, groups]) => ({
      addresses: groups.flatMap(({ addresses }) => addresses.map((ip) => ({ ip }))),
      ports: [{ name: "https", port, protocol: "TCP" }],
    }));
    const labels = { "endpointslice.kubernetes.io/skip-mirror": "true" };
    return { kind: "Endpoints", apiVersion: "v1", metadata: { name, namespace, labels }, subsets };
  }

  #slices(): EndpointSlice[] {
    const groups = this.#groups();
    const ownFamily = this.#parts.network.clusterIps[0]?.family ?? "IPv4";
    const first = groups[0] ?? { family: ownFamily, port: this.#port(), addresses: [] };
    return [first, ...groups.slice(1)].map(({ family, port, addresses }, at) => {
      const isFirst = at === 0;
      const labels = { [serviceNameLabel]: name, ...(isFirst ? {} : { [managedByLabel]: manager }) };
      const sliceName = isFirst ? name : `${name}-${family.toLowerCase()}-${port}`;
      return {
        kind: "EndpointSlice",
        apiVersion: "discovery.k8s.io/v1",
        metadata: { name: sliceName, namespace, labels },
        addressType: family,
        endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
        ports: port === undefined ? [] : [{ name: "https", port, protocol: "TCP" }],
      };
    });
  }

  /** Returns the port of the servers in the first slice. */
  #port(): number | undefined {
    return this.#groups()[0]?.port ?? this.#parts.servers.all().find(({ port }) => port !== undefined)?.port;
  }

  /** Returns the reachable servers in groups, the Services' own family first, then by port. */
  #groups(): EndpointGroup[] {
    const ownFamily = this.#parts.network.clusterIps[0]?.family;
    const groups = new Map<string, { family: IpFamily; port: number; addresses: Set<string> }>();
    for (const { address, port } of this.#parts.servers.all()) {
      const ip = address === undefined ? undefined : parseIp(address);
      if (ip === undefined || port === undefined) continue;
      const key = `${ip.family} ${port}`;
      const group = groups.get(key) ?? { family: ip.family, port, addresses: new Set() };
      groups.set(key, group);
      group.addresses.add(ip.text);
    }
    return [...groups.values()]
      .map((group) => ({ ...group, addresses: [...group.addresses].toSorted() }))
      .toSorted((a, b) => Number(b.family === ownFamily) - Number(a.family === ownFamily) || a.port - b.port);
  }
}

/**
 * Returns the address to announce for a server that listens on `bindAddress`: that address if other machines can reach
 * it, otherwise the first reachable one of this machine, preferably of the Services' family.
 */
export function announcedAddress(bindAddress: string, family: IpFamily): string | undefined {
  if (!isLocal(bindAddress)) return parseIp(bindAddress)?.text;
  const external = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith("fe80:"));
  return (external.find((found) => found.family === family) ?? external[0])?.address;
}

function isLocal(address: string): boolean {
  const ip = parseIp(address);
  return ip === undefined || ip.text === "::" || ip.text === "::1" || ip.text === "0.0.0.0" || ip.bytes[0] === 127;
}

/** Returns the address type of an EndpointSlice. Objects of other kinds have none. */
function familyOf(object: KubeObject): string | undefined {
  return (object as Partial<EndpointSlice>).addressType;
}

/** Returns `old` with the labels and fields of `wanted`. Other fields of the spec keep their values. */
function withFields(old: KubeObject, wanted: KubeObject): KubeObject {
  const labels = { ...old.metadata.labels, ...wanted.metadata.labels };
  const next: KubeObject = { ...old, ...wanted, metadata: { ...old.metadata, labels } };
  const { spec } = wanted as Service;
  return spec === undefined ? next : { ...next, spec: { ...(old as Service).spec, ...spec } };
}

/** Ignores the error if another replica was faster. */
async function orExisting(creation: Promise<unknown>): Promise<void> {
  try {
    await creation;
  } catch (error) {
    if (!(error instanceof StatusError && error.reason === "AlreadyExists")) throw error;
  }
}

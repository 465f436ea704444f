import { networkInterfaces } from "node:os";
import type { Clock } from "../api/clock.ts";
import type { GroupResource } from "../api/gvk.ts";
import type { JsonObject, JsonValue } from "../api/json.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { StatusError } from "../api/status.ts";
import { firstAddress } from "../registry/allocation/ip-range.ts";
import type { ServiceNetwork } from "../registry/allocation/service-allocation.ts";
import type { Registry } from "../registry/registry.ts";
import { serverContext } from "../registry/server-context.ts";
import { type IpFamily, parseIp } from "../registry/validation/ip.ts";
import { removeObject } from "./remove-object.ts";

const namespace = "default";
const name = "kubernetes";
/** How often it is checked that nobody has changed or removed what is kept here. */
const checkIntervalMs = 10_000;

export interface KubernetesServiceParts {
  readonly registry: (resource: GroupResource) => Registry;
  readonly network: ServiceNetwork;
  readonly clock: Clock;
  /** Where this server can be reached; undefined when only this machine can. */
  readonly address: string | undefined;
  readonly port: number;
  readonly onError: (error: unknown) => void;
}

/**
 * Keeps what clients inside of the cluster find the server by: the ServiceCIDR, Service, Endpoints and EndpointSlice that
 * are all called `kubernetes`. Begins once the server answers, as it announces its own port.
 */
export class KubernetesService {
  readonly #parts: KubernetesServiceParts;
  #running: Promise<void> | undefined;

  constructor(parts: KubernetesServiceParts) {
    this.#parts = parts;
  }

  start(): Disposable {
    const { clock, onError } = this.#parts;
    const running = new DisposableStack();
    // What fails because the server has stopped meanwhile is no error.
    const check = () => void this.ensure().catch((error: unknown) => running.disposed || onError(error));
    running.use(clock.after(0, check));
    running.use(clock.every(checkIntervalMs, check));
    return running;
  }

  /** Resolves when everything is as it should be; one round at a time. */
  ensure(): Promise<void> {
    this.#running ??= this.#ensureAll().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #ensureAll(): Promise<void> {
    await this.#ensureCidr();
    await this.#ensure({ group: "", resource: "services" }, this.#service());
    await this.#ensure({ group: "", resource: "endpoints" }, this.#endpoints());
    await this.#ensure({ group: "discovery.k8s.io", resource: "endpointslices" }, this.#endpointSlice());
  }

  async #ensureCidr(): Promise<void> {
    const { registry, network } = this.#parts;
    const cidrs = registry({ group: "networking.k8s.io", resource: "servicecidrs" });
    if (cidrs.current("", name) !== undefined) return;
    const spec = { cidrs: network.clusterIps.map(({ text }) => text) };
    const cidr = { kind: "ServiceCIDR", apiVersion: "networking.k8s.io/v1", metadata: { name }, spec };
    await orExisting(cidrs.create(cidr, "", serverContext));
  }

  /** Creates the object, or sets the fields that `wanted` has and leaves the others alone. */
  async #ensure(resource: GroupResource, wanted: KubeObject): Promise<void> {
    const registry = this.#parts.registry(resource);
    const current = registry.current(namespace, name);
    // A slice cannot change its family: where the server has moved to another one, it needs a new slice.
    const isReplaced = current !== undefined && current["addressType"] !== wanted["addressType"];
    if (isReplaced) await removeObject(registry, current, serverContext);
    if (current === undefined || isReplaced) {
      await orExisting(registry.create(wanted, namespace, serverContext));
      return;
    }
    await registry.update(namespace, name, (old) => withFields(old, wanted), serverContext, { reapplies: true });
  }

  #service(): KubeObject {
    const { network, port } = this.#parts;
    const [range] = network.clusterIps;
    if (range === undefined) throw new Error("there is no range for cluster IPs");
    return objectOf(
      "Service",
      "v1",
      { component: "apiserver", provider: "kubernetes" },
      {
        spec: {
          type: "ClusterIP",
          clusterIP: firstAddress(range),
          clusterIPs: [firstAddress(range)],
          ipFamilies: [range.family],
          ipFamilyPolicy: "SingleStack",
          sessionAffinity: "None",
          ports: [{ name: "https", protocol: "TCP", port: 443, targetPort: port }],
        },
      },
    );
  }

  #endpoints(): KubeObject {
    const { address, port } = this.#parts;
    const subsets =
      address === undefined
        ? []
        : [{ addresses: [{ ip: address }], ports: [{ name: "https", port, protocol: "TCP" }] }];
    return objectOf("Endpoints", "v1", { "endpointslice.kubernetes.io/skip-mirror": "true" }, { subsets });
  }

  #endpointSlice(): KubeObject {
    const { address, port } = this.#parts;
    const family = address === undefined ? this.#parts.network.clusterIps[0]?.family : parseIp(address)?.family;
    return objectOf(
      "EndpointSlice",
      "discovery.k8s.io/v1",
      { "kubernetes.io/service-name": name },
      {
        addressType: family ?? "IPv4",
        endpoints: address === undefined ? [] : [{ addresses: [address], conditions: { ready: true } }],
        ports: [{ name: "https", port, protocol: "TCP" }],
      },
    );
  }
}

/**
 * The address to announce for a server that listens on `bindAddress`: that one if others can reach it, else the first of
 * this machine that they can, preferably of the family of the Services.
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

function objectOf(
  kind: string,
  apiVersion: string,
  labels: Record<string, string>,
  fields: Record<string, JsonValue>,
): KubeObject {
  return { kind, apiVersion, metadata: { name, namespace, labels }, ...fields };
}

function withFields(old: KubeObject, wanted: KubeObject): KubeObject {
  const { metadata, spec, ...fields } = wanted;
  const next: KubeObject = { ...old, ...fields };
  next.metadata = { ...old.metadata, labels: { ...old.metadata.labels, ...metadata.labels } };
  if (spec !== undefined) next["spec"] = { ...(old["spec"] as JsonObject), ...(spec as JsonObject) };
  return next;
}

/** Another replica may have been faster. */
async function orExisting(creation: Promise<unknown>): Promise<void> {
  try {
    await creation;
  } catch (error) {
    if (!(error instanceof StatusError && error.reason === "AlreadyExists")) throw error;
  }
}

import type { GroupResource } from "../../api/gvk.ts";
import type { Clock } from "../../process/clock.ts";
import type { Allocator } from "../../registry/allocator.ts";
import { plainDeletion } from "../../registry/delete-options.ts";
import type { RandomInt } from "../../registry/random-name.ts";
import type { Registry } from "../../registry/registry.ts";
import { serverContext } from "../../registry/server-context.ts";
import type { Store } from "../../storage/store.ts";
import { AllocationRepair } from "./allocation-repair.ts";
import { ClusterIpAllocator } from "./cluster-ip-allocator.ts";
import type { IpRange } from "./ip-range.ts";
import { NodePortAllocator } from "./node-port-allocator.ts";
import { NodePortBitmap } from "./node-port-bitmap.ts";
import type { PortRange } from "./node-port-range.ts";
import type { NodePorts } from "./node-ports.ts";
import { ServiceAllocator } from "./service-allocator.ts";
import { ServiceRanges } from "./service-ranges.ts";

/** The sources of addresses and ports of Services. */
export interface ServiceNetwork {
  /** One range, or one of each family; the first decides about the default family. */
  readonly clusterIps: readonly IpRange[];
  readonly nodePorts: PortRange;
}

export interface ServiceAllocationParts {
  readonly network: ServiceNetwork;
  readonly store: Store;
  readonly clock: Clock;
  readonly randomInt: RandomInt;
  /** Whether the store is on etcd, where kube-apiservers take ports too. */
  readonly isOnEtcd?: boolean;
  /** Asked when the first Service is written: the registries are made one after another. */
  readonly registry: (resource: GroupResource) => Registry;
}

/** Everything that gives out cluster IPs and node ports, wired up. */
export class ServiceAllocation {
  readonly network: ServiceNetwork;
  readonly allocator: Allocator;
  readonly #parts: ServiceAllocationParts;
  readonly #addresses: ClusterIpAllocator;
  readonly #ports: NodePorts;

  constructor(parts: ServiceAllocationParts) {
    const { network, registry } = parts;
    const ranges = new ServiceRanges(network.clusterIps, () => registry(serviceCidrs));
    this.network = network;
    this.#parts = parts;
    this.#addresses = new ClusterIpAllocator({
      addresses: () => registry(ipAddresses),
      ranges: () => ranges.ranges(),
      randomInt: parts.randomInt,
    });
    const ports = { ...parts, range: network.nodePorts };
    this.#ports = parts.isOnEtcd === true ? new NodePortBitmap(ports) : new NodePortAllocator(ports);
    this.allocator = new ServiceAllocator({
      addresses: this.#addresses,
      ports: this.#ports,
      removeEndpoints: async ({ namespace, name }) => {
        await registry(endpoints).delete(namespace, name, plainDeletion, serverContext);
      },
    });
  }

  repair(): AllocationRepair {
    const { registry } = this.#parts;
    return new AllocationRepair({
      services: registry(services),
      addresses: registry(ipAddresses),
      addressAllocator: this.#addresses,
      portAllocator: this.#ports,
    });
  }
}

const endpoints: GroupResource = { group: "", resource: "endpoints" };
const services: GroupResource = { group: "", resource: "services" };
const ipAddresses: GroupResource = { group: "networking.k8s.io", resource: "ipaddresses" };
const serviceCidrs: GroupResource = { group: "networking.k8s.io", resource: "servicecidrs" };

import type { KubeObject } from "../../api/object-meta.ts";
import { StatusError } from "../../api/status.ts";
import type { IPAddress } from "../../api/types/networking-v1.ts";
import { type IpAddress, type IpFamily, parseIp } from "../../api/validation/ip.ts";
import type { RandomInt } from "../../registry/random-name.ts";
import type { Registry } from "../../registry/registry.ts";
import { serverContext } from "../../registry/server-context.ts";
import type { DeleteOptions } from "../../registry/strategy.ts";
import { addressesToTry, type IpRange, inRange } from "./ip-range.ts";

export const addressManagedByLabel = "ipaddress.kubernetes.io/managed-by";
export const addressManager = "ipallocator.k8s.io";
const addressFamilyLabel = "ipaddress.kubernetes.io/ip-family";

/** The Service that an address belongs to. */
export interface ServiceRef {
  readonly namespace: string;
  readonly name: string;
}

export interface ClusterIpAllocatorParts {
  /** The registry of ipaddresses. */
  readonly addresses: () => Registry;
  /** Ranges that addresses may be taken from, the default one first. */
  readonly ranges: () => readonly IpRange[];
  readonly randomInt: RandomInt;
}

/**
 * Takes an address by creating its IPAddress object. The store refuses a second one, so two Services never share an
 * address, even if they are created on different replicas or a replica restarts in between.
 */
export class ClusterIpAllocator {
  readonly #parts: ClusterIpAllocatorParts;

  constructor(parts: ClusterIpAllocatorParts) {
    this.#parts = parts;
  }

  /** Families that have a range, the default one first. */
  families(): readonly IpFamily[] {
    return [...new Set(this.#parts.ranges().map(({ family }) => family))];
  }

  /**
   * Takes a free address; undefined if none is left.
   * @param dryRun only finds one
   */
  async takeAny(family: IpFamily, service: ServiceRef, dryRun: boolean): Promise<string | undefined> {
    for (const range of this.#parts.ranges()) {
      if (range.family !== family) continue;
      for (const ip of addressesToTry(range, this.#parts.randomInt)) {
        if (this.#isTaken(ip)) continue;
        if (dryRun || (await this.#claim(ip, family, service))) return ip;
      }
    }
    return undefined;
  }

  /**
   * Takes the requested address, in its canonical form. As upstream does, a dry run only checks that a range has it.
   * @returns why it cannot be taken
   */
  async take(ip: IpAddress, asked: string, service: ServiceRef, dryRun: boolean): Promise<string | undefined> {
    const ranges = this.#parts.ranges().filter(({ family }) => family === ip.family);
    if (!ranges.some((range) => inRange(range, ip))) {
      const valid = ranges.map(({ text }) => text).join(",");
      return `the provided IP (${asked}) is not in the valid range. The range of valid IPs is ${valid}`;
    }
    if (dryRun) return undefined;
    const isFree = !this.#isTaken(ip.text) && (await this.#claim(ip.text, ip.family, service));
    return isFree ? undefined : "provided IP is already allocated";
  }

  /** Releases the address unless it belongs to another Service now. */
  async release(text: string, service: ServiceRef): Promise<void> {
    const ip = parseIp(text)?.text;
    const address = ip === undefined ? undefined : this.#parts.addresses().current("", ip);
    if (address === undefined || !belongsTo(address, service)) return;
    await this.remove(address);
  }

  /** Removes an IPAddress object unless it has changed since it was read. */
  async remove({ metadata }: KubeObject): Promise<void> {
    try {
      await this.#parts.addresses().delete("", metadata.name ?? "", exactly(metadata), serverContext);
    } catch (error) {
      if (!(error instanceof StatusError && (error.code === 404 || error.code === 409))) throw error;
    }
  }

  #isTaken(ip: string): boolean {
    const addresses = this.#parts.addresses();
    return addresses.cacher.get(addresses.keyOf("", ip)) !== undefined;
  }

  /** Returns false if another writer was faster. */
  async #claim(ip: string, family: IpFamily, service: ServiceRef): Promise<boolean> {
    try {
      await this.#parts.addresses().create(addressObject(ip, family, service), "", serverContext);
      return true;
    } catch (error) {
      if (error instanceof StatusError && error.reason === "AlreadyExists") return false;
      throw error;
    }
  }
}

/** Returns the Service that an IPAddress object names, or undefined for another kind of parent. */
export function serviceOf(address: KubeObject): ServiceRef | undefined {
  const { group = "", resource, namespace = "", name = "" } = (address as IPAddress).spec?.parentRef ?? {};
  return group === "" && resource === "services" ? { namespace, name } : undefined;
}

function belongsTo(address: KubeObject, { namespace, name }: ServiceRef): boolean {
  const service = serviceOf(address);
  return service?.namespace === namespace && service.name === name;
}

function addressObject(ip: string, family: IpFamily, { namespace, name }: ServiceRef): KubeObject {
  return {
    kind: "IPAddress",
    apiVersion: "networking.k8s.io/v1",
    metadata: { name: ip, labels: { [addressFamilyLabel]: family, [addressManagedByLabel]: addressManager } },
    spec: { parentRef: { resource: "services", namespace, name } },
  };
}

function exactly({ uid, resourceVersion }: KubeObject["metadata"]): DeleteOptions {
  return {
    gracePeriodSeconds: 0,
    propagationPolicy: "Background",
    orphanDependents: undefined,
    preconditions: { uid, resourceVersion },
    dryRun: false,
  };
}

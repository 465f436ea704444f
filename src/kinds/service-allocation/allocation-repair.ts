import { decodeEntry } from "../../api/codec/stored-object.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import type { Revision } from "../../api/revision.ts";
import type { Service } from "../../api/types/core-v1.ts";
import { parseIp } from "../../api/validation/ip.ts";
import type { Registry } from "../../registry/registry.ts";
import {
  addressManagedByLabel,
  addressManager,
  type ClusterIpAllocator,
  type ServiceRef,
  serviceOf,
} from "./cluster-ip-allocator.ts";
import type { NodePorts } from "./node-ports.ts";
import { addressesOf, nodePortsOf } from "./service-allocator.ts";

export interface AllocationRepairParts {
  readonly services: Registry;
  readonly addresses: Registry;
  readonly addressAllocator: ClusterIpAllocator;
  readonly portAllocator: NodePorts;
}

/** The changes of a round, and the problems that it could not mend. */
export interface RepairReport {
  readonly released: number;
  readonly claimed: number;
  /** Sentences about Services that hold what belongs to another. */
  readonly conflicts: readonly string[];
}

/**
 * Brings addresses and ports in line with the Services: a server that stopped between two writes leaves an allocation
 * that no Service holds, or a Service whose allocation is not recorded. The first is released once it is older than any
 * request that could still be running on any server; the second is recorded.
 */
export class AllocationRepair {
  readonly #parts: AllocationRepairParts;

  constructor(parts: AllocationRepairParts) {
    this.#parts = parts;
  }

  /** @param settled what was claimed later than at this revision may belong to a request that is not finished */
  async run(settled: Revision): Promise<RepairReport> {
    const held = this.#held();
    const report = { released: 0, claimed: 0, conflicts: [] as string[] };
    report.released += await this.#releaseAddresses(held, settled);
    report.released += await this.#releasePorts(held, settled);
    for (const { ref, addresses, ports } of held.values()) {
      for (const ip of addresses) await this.#claimAddress(ip, ref, report);
      for (const port of ports) await this.#claimPort(port, ref, report);
    }
    return report;
  }

  /** An IPAddress object has been deleted: a Service that still holds the address claims it again before another can. */
  async reclaim(address: KubeObject): Promise<void> {
    const ref = serviceOf(address);
    if (ref === undefined) return;
    await this.#claimAddress(address.metadata.name ?? "", ref, { claimed: 0, conflicts: [] });
  }

  #held(): Map<string, Held> {
    const held = new Map<string, Held>();
    for (const service of objectsOf(this.#parts.services)) {
      const one = heldBy(service);
      held.set(keyOf(one.ref), one);
    }
    return held;
  }

  /** Reads the Service again: it may have changed or gone since the round began. */
  #heldNow({ namespace, name }: ServiceRef): Held | undefined {
    const service = this.#parts.services.current(namespace, name);
    return service === undefined ? undefined : heldBy(service);
  }

  async #releaseAddresses(held: ReadonlyMap<string, Held>, settled: Revision): Promise<number> {
    let released = 0;
    for (const address of objectsOf(this.#parts.addresses)) {
      const { labels, name = "", resourceVersion } = address.metadata;
      const service = serviceOf(address);
      if (labels?.[addressManagedByLabel] !== addressManager || service === undefined) continue;
      if (held.get(keyOf(service))?.addresses.has(name) === true) continue;
      if (!(Number(resourceVersion) <= settled)) continue;
      await this.#parts.addressAllocator.remove(address);
      released++;
    }
    return released;
  }

  #releasePorts(held: ReadonlyMap<string, Held>, settled: Revision): Promise<number> {
    const all = new Set([...held.values()].flatMap(({ ports }) => [...ports]));
    const isHeld = (port: number, service: ServiceRef | undefined) =>
      service === undefined ? all.has(port) : held.get(keyOf(service))?.ports.has(port) === true;
    return this.#parts.portAllocator.releaseUnheld(isHeld, settled);
  }

  async #claimAddress(text: string, ref: ServiceRef, report: Tally): Promise<void> {
    if (this.#heldNow(ref)?.addresses.has(text) !== true) return;
    const ip = parseIp(text);
    const address = this.#parts.addresses.current("", text);
    if (address !== undefined || ip === undefined) {
      const owner = address === undefined ? undefined : serviceOf(address);
      if (owner === undefined || keyOf(owner) !== keyOf(ref)) report.conflicts.push(conflictText(ref, text, owner));
      return;
    }
    const problem = await this.#parts.addressAllocator.take(ip, text, ref, false);
    if (problem === undefined) report.claimed++;
    else report.conflicts.push(`service ${keyOf(ref)} holds the address ${text}: ${problem}`);
  }

  async #claimPort(port: number, ref: ServiceRef, report: Tally): Promise<void> {
    if (this.#heldNow(ref)?.ports.has(port) !== true) return;
    const owner = this.#parts.portAllocator.ownerOf(port);
    if (owner === "unknown") return;
    if (owner !== undefined) {
      if (keyOf(owner) !== keyOf(ref)) report.conflicts.push(conflictText(ref, `port ${port}`, owner));
      return;
    }
    const problem = await this.#parts.portAllocator.take(port, ref, false);
    if (problem === undefined) report.claimed++;
    else report.conflicts.push(`service ${keyOf(ref)} holds the port ${port}: ${problem}`);
  }
}

interface Held {
  readonly ref: ServiceRef;
  readonly addresses: ReadonlySet<string>;
  readonly ports: ReadonlySet<number>;
}
interface Tally {
  claimed: number;
  readonly conflicts: string[];
}

function heldBy(service: Service): Held {
  const { metadata, spec = {} } = service;
  const ref = { namespace: metadata.namespace ?? "", name: metadata.name ?? "" };
  const addresses = new Set(addressesOf(spec).map((ip) => parseIp(ip)?.text ?? ip));
  return { ref, addresses, ports: new Set(nodePortsOf(spec)) };
}

function* objectsOf({ cacher, info }: Registry): Generator<KubeObject> {
  const page = cacher.list({ prefix: info.keyPrefix });
  if (page instanceof Promise) return;
  for (const entry of page.entries) yield decodeEntry(entry, info);
}

function conflictText(ref: ServiceRef, what: string, owner: ServiceRef | undefined): string {
  return `service ${keyOf(ref)} holds ${what}, which belongs to ${owner === undefined ? "something else" : keyOf(owner)}`;
}

function keyOf({ namespace, name }: ServiceRef): string {
  return `${namespace}/${name}`;
}

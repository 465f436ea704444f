import { type FieldError, fieldError } from "../../api/field-error.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { type StatusError, status } from "../../api/status.ts";
import type { Service, ServiceSpec } from "../../api/types/core-v1.ts";
import { type IpAddress, type IpFamily, parseIp } from "../../api/validation/ip.ts";
import type { AllocationAttempt, Allocator } from "../../registry/allocator.ts";
import type { ClusterIpAllocator, ServiceRef } from "./cluster-ip-allocator.ts";
import { NodePortRequest } from "./node-port-request.ts";
import type { NodePorts } from "./node-ports.ts";
import { isHeadless, needsClusterIp } from "./service.ts";
import { alignClusterIps, dropFieldsOfOldType, keepAllocated } from "./service-carry-over.ts";
import { completeFamilies, keepsPreferredDualStack } from "./service-families.ts";

export interface ServiceAllocatorParts {
  readonly addresses: ClusterIpAllocator;
  readonly ports: NodePorts;
  /** Removes the Endpoints object that has the name of the Service, if there is one. */
  readonly removeEndpoints: (service: ServiceRef) => Promise<void>;
}

/** Gives Services their cluster IPs, node ports and health check ports, and takes them back. */
export class ServiceAllocator implements Allocator {
  readonly #addresses: ClusterIpAllocator;
  readonly #ports: NodePorts;
  readonly #removeEndpoints: ServiceAllocatorParts["removeEndpoints"];

  constructor(parts: ServiceAllocatorParts) {
    this.#addresses = parts.addresses;
    this.#ports = parts.ports;
    this.#removeEndpoints = parts.removeEndpoints;
  }

  async beforeCreate(object: KubeObject, attempt: AllocationAttempt): Promise<void> {
    const service = object as Service;
    const { spec } = service;
    if (spec === undefined) return;
    alignClusterIps(spec, undefined);
    refuse(service, completeFamilies(spec, undefined, this.#addresses.families()));
    const ports = this.#portRequest(service, attempt);
    await allDone([
      hasClusterIps(spec) ? this.#takeAddresses(service, spec, 0, attempt) : Promise.resolve(),
      ports.create(spec),
    ]);
  }

  async beforeUpdate(object: KubeObject, oldObject: KubeObject, attempt: AllocationAttempt): Promise<void> {
    const service = object as Service;
    const { spec } = service;
    const { spec: old = {} } = oldObject as Service;
    if (spec === undefined) return;
    keepAllocated(spec, old);
    alignClusterIps(spec, old);
    refuse(service, completeFamilies(spec, old, this.#addresses.families()));
    const ports = this.#portRequest(service, attempt);
    await allDone([this.#updateAddresses(service, spec, old, attempt), ports.update(spec, old)]);
    dropFieldsOfOldType(spec, old);
  }

  async afterDelete(object: KubeObject): Promise<void> {
    const { spec = {}, metadata } = object as Service;
    const ref = { namespace: metadata.namespace ?? "", name: metadata.name ?? "" };
    // The Service is gone all the same: what cannot be given back now is found by the next repair.
    await Promise.allSettled([
      ...addressesOf(spec).map((ip) => this.#addresses.release(ip, ref)),
      ...nodePortsOf(spec).map((port) => this.#ports.release(port, ref)),
      this.#removeEndpoints(ref),
    ]);
  }

  async #updateAddresses(
    service: Service,
    spec: ServiceSpec,
    old: ServiceSpec,
    attempt: AllocationAttempt,
  ): Promise<void> {
    if (keepsPreferredDualStack(spec, old)) return;
    if (!needsClusterIp(old)) {
      if (hasClusterIps(spec)) await this.#takeAddresses(service, spec, 0, attempt);
      return;
    }
    if (isHeadless(old)) return;
    const before = addressesOf(old);
    if (!needsClusterIp(spec)) return this.#releaseLater(before, service, attempt);
    const families = spec.ipFamilies?.length ?? 0;
    const familiesBefore = old.ipFamilies?.length ?? 0;
    if (familiesBefore === 1 && families === 2) await this.#takeAddresses(service, spec, 1, attempt);
    if (familiesBefore === 2 && families === 1) this.#releaseLater(before.slice(1), service, attempt);
  }

  /** Takes an address for each family from `first` on: the one that is named, else any. */
  async #takeAddresses(service: Service, spec: ServiceSpec, first: number, attempt: AllocationAttempt): Promise<void> {
    const addresses = [...(spec.clusterIPs ?? [])];
    for (const [at, family] of (spec.ipFamilies ?? []).entries()) {
      if (at >= first)
        addresses[at] = await this.#takeAddress(service, family as IpFamily, addresses[at] ?? "", attempt);
    }
    spec.clusterIPs = addresses;
    const [primary] = addresses;
    if (primary !== undefined) spec.clusterIP = primary;
  }

  async #takeAddress(service: Service, family: IpFamily, asked: string, attempt: AllocationAttempt): Promise<string> {
    const ref = refOf(service);
    const taken =
      asked === ""
        ? await this.#addresses.takeAny(family, ref, attempt.dryRun)
        : await this.#takeNamed(service, asked, attempt);
    if (taken === undefined) {
      throw status.internal(
        `failed to allocate a serviceIP for Service ${JSON.stringify(service.metadata.name ?? "")}: range is full`,
      );
    }
    if (!attempt.dryRun) {
      attempt.onSettled(async (outcome) => {
        if (outcome === "notStored") await this.#addresses.release(taken, ref);
      });
    }
    return taken;
  }

  async #takeNamed(service: Service, asked: string, attempt: AllocationAttempt): Promise<string> {
    const problem = await this.#addresses.take(parseIp(asked) as IpAddress, asked, refOf(service), attempt.dryRun);
    if (problem === undefined) return asked;
    const clusterIPs = [...(service.spec?.clusterIPs ?? [])];
    throw invalid(service, [
      fieldError.invalid("spec.clusterIPs", clusterIPs, `failed to allocate IP ${asked}: ${problem}`),
    ]);
  }

  #releaseLater(addresses: readonly string[], service: Service, attempt: AllocationAttempt): void {
    if (attempt.dryRun) return;
    attempt.onSettled(async (outcome) => {
      if (outcome !== "stored") return;
      for (const ip of addresses) await this.#addresses.release(ip, refOf(service));
    });
  }

  #portRequest(service: Service, attempt: AllocationAttempt): NodePortRequest {
    return new NodePortRequest(this.#ports, refOf(service), attempt, (errors) => invalid(service, errors));
  }
}

/** Side by side, so that their writes share a sync. When one fails the others still end: they have to be undone then. */
async function allDone(claims: readonly Promise<void>[]): Promise<void> {
  const failure = (await Promise.allSettled(claims)).find(({ status: how }) => how === "rejected");
  if (failure !== undefined) throw (failure as PromiseRejectedResult).reason;
}

/** The addresses that a Service holds. */
export function addressesOf(spec: ServiceSpec): readonly string[] {
  if (!needsClusterIp(spec) || isHeadless(spec)) return [];
  return spec.clusterIPs ?? [];
}

/** The node ports that a Service holds, each once; the health check port is one of them. */
export function nodePortsOf({ ports = [], healthCheckNodePort = 0 }: ServiceSpec): readonly number[] {
  const all = [...ports.map(({ nodePort = 0 }) => nodePort), healthCheckNodePort];
  return [...new Set(all.filter((port) => port !== 0))];
}

function hasClusterIps(spec: ServiceSpec): boolean {
  return needsClusterIp(spec) && !isHeadless(spec);
}

function refOf({ metadata }: Service): ServiceRef {
  return { namespace: metadata.namespace ?? "", name: metadata.name ?? "" };
}

function refuse(service: Service, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid(service, errors);
}

function invalid({ metadata }: Service, errors: readonly FieldError[]): StatusError {
  return status.invalid({ group: "", kind: "Service", name: metadata.name ?? "" }, errors);
}

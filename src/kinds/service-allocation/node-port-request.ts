import { type FieldError, fieldError } from "../../api/field-error.ts";
import { type StatusError, status } from "../../api/status.ts";
import type { ServicePort, ServiceSpec } from "../../api/types/core-v1.ts";
import type { AllocationAttempt } from "../../registry/allocator.ts";
import type { ServiceRef } from "./cluster-ip-allocator.ts";
import type { NodePorts } from "./node-ports.ts";
import { allocatesNodePorts, needsHealthCheckPort, needsNodePort } from "./service.ts";

/** The port that a dry run answers with when the request names none; the default range ends below it. */
const firstDryRunPort = 32_769;

/** The ports of one attempt to write a Service: taken one by one, given back together when the attempt fails. */
export class NodePortRequest {
  readonly #ports: NodePorts;
  readonly #service: ServiceRef;
  readonly #attempt: AllocationAttempt;
  readonly #invalid: (errors: readonly FieldError[]) => StatusError;
  readonly #taken = new Set<number>();
  readonly #toRelease = new Set<number>();

  constructor(
    ports: NodePorts,
    service: ServiceRef,
    attempt: AllocationAttempt,
    invalid: (errors: readonly FieldError[]) => StatusError,
  ) {
    this.#ports = ports;
    this.#service = service;
    this.#attempt = attempt;
    this.#invalid = invalid;
    if (attempt.dryRun) return;
    attempt.onSettled(async (outcome) => {
      if (outcome === "unknown") return;
      for (const port of outcome === "stored" ? this.#toRelease : this.#taken) await ports.release(port, service);
    });
  }

  /** Changes `spec`. @throws StatusError 422, and 500 when no port is left */
  async create(spec: ServiceSpec): Promise<void> {
    if (needsNodePort(spec)) await this.#createPorts(spec);
    if (needsHealthCheckPort(spec)) await this.#takeHealthCheckPort(spec);
  }

  /** Changes `spec`. @throws StatusError 422, and 500 when no port is left */
  async update(spec: ServiceSpec, old: ServiceSpec): Promise<void> {
    const before = portNumbers(old);
    if (needsNodePort(spec)) await this.#updatePorts(spec, before);
    const now = needsNodePort(spec) ? portNumbers(spec) : new Set<number>();
    for (const port of before) if (!now.has(port)) this.#toRelease.add(port);
    await this.#updateHealthCheckPort(spec, old);
  }

  /** Entries with the same port, such as TCP and UDP of DNS, share a node port. */
  async #createPorts(spec: ServiceSpec): Promise<void> {
    const ports = spec.ports ?? [];
    const byPort = new Map<number, number>();
    for (const [at, entry] of ports.entries()) {
      const { port = 0, nodePort = 0 } = entry;
      if (nodePort === 0 && !allocatesNodePorts(spec)) continue;
      const shared = byPort.get(port);
      if (shared !== undefined && (nodePort === 0 || nodePort === shared)) {
        entry.nodePort = shared;
        continue;
      }
      const asked = nodePort === 0 ? askedFor(port, ports) : nodePort;
      entry.nodePort = await this.#take(asked, at);
      if (shared === undefined) byPort.set(port, entry.nodePort);
    }
  }

  async #updatePorts(spec: ServiceSpec, before: ReadonlySet<number>): Promise<void> {
    for (const [at, entry] of (spec.ports ?? []).entries()) {
      const { nodePort = 0 } = entry;
      if (nodePort === 0 && !allocatesNodePorts(spec)) continue;
      if (nodePort !== 0 && (before.has(nodePort) || this.#taken.has(nodePort))) continue;
      entry.nodePort = await this.#take(nodePort, at);
    }
  }

  async #updateHealthCheckPort(spec: ServiceSpec, old: ServiceSpec): Promise<void> {
    const needed = needsHealthCheckPort(old);
    if (!needed && needsHealthCheckPort(spec)) await this.#takeHealthCheckPort(spec);
    if (!needed || needsHealthCheckPort(spec)) return;
    if ((old.healthCheckNodePort ?? 0) !== 0) this.#toRelease.add(old.healthCheckNodePort as number);
    delete spec.healthCheckNodePort;
  }

  async #takeHealthCheckPort(spec: ServiceSpec): Promise<void> {
    const { healthCheckNodePort: asked = 0 } = spec;
    const problem = asked === 0 ? undefined : await this.#ports.take(asked, this.#service, this.#attempt.dryRun);
    if (problem !== undefined) {
      throw this.#invalid([fieldError.invalid("spec.healthCheckNodePort", asked, problem)]);
    }
    const port = asked === 0 ? await this.#takeAny() : asked;
    if (port === undefined) throw status.internal("failed to allocate a HealthCheck NodePort 0: range is full");
    this.#taken.add(port);
    spec.healthCheckNodePort = port;
  }

  /** @param asked 0 for any */
  async #take(asked: number, at: number): Promise<number> {
    if (asked === 0) {
      const port = await this.#takeAny();
      if (port === undefined) throw status.internal("failed to allocate a nodePort: range is full");
      this.#taken.add(port);
      return port;
    }
    const problem = this.#taken.has(asked)
      ? "provided port is already allocated"
      : await this.#ports.take(asked, this.#service, this.#attempt.dryRun);
    if (problem !== undefined) {
      throw this.#invalid([fieldError.invalid(`spec.ports[${at}].nodePort`, asked, problem)]);
    }
    this.#taken.add(asked);
    return asked;
  }

  /** A dry run takes no port. Like upstream, it answers with a placeholder. */
  async #takeAny(): Promise<number | undefined> {
    if (this.#attempt.dryRun) return this.#taken.size === 0 ? firstDryRunPort : Math.max(...this.#taken) + 1;
    return this.#ports.takeAny(this.#service, this.#taken);
  }
}

/** The node port that a later entry of the same port names. */
function askedFor(port: number, ports: readonly ServicePort[]): number {
  return ports.find((entry) => entry.port === port && (entry.nodePort ?? 0) !== 0)?.nodePort ?? 0;
}

function portNumbers({ ports = [] }: ServiceSpec): Set<number> {
  return new Set(ports.map(({ nodePort = 0 }) => nodePort).filter((port) => port !== 0));
}

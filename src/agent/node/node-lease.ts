import { StatusError } from "../../api/status.ts";
import { formatMicroTime } from "../../api/time.ts";
import type { Lease } from "../../api/types/coordination-v1.ts";
import { Backoff } from "../../client/backoff.ts";
import type { Client, ResourceType } from "../../client/client.ts";
import type { Clock } from "../../process/clock.ts";

export const leaseType: ResourceType<Lease> = { group: "coordination.k8s.io", version: "v1", resource: "leases" };
const namespace = "kube-node-lease";
/** Part of the lease's duration between two renewals, and how much longer it may be. */
const renewFraction = 0.25;
const jitter = 0.04;
/** Attempts of one renewal, which follow each other at once. */
const attemptsMax = 5;
const retryMsMin = 200;
const retryMsMax = 7_000;

export interface NodeLeaseParts {
  readonly client: Pick<Client, "get" | "create" | "update">;
  readonly nodeName: string;
  readonly durationSeconds: number;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly timeoutMs: number;
  /** Returns the uid of the Node, which owns the Lease; undefined if the Node is not known. */
  nodeUid(): Promise<string | undefined>;
  onError(error: unknown): void;
}

/** The Lease of a node. Its renewal is the heartbeat that the control plane watches. */
export class NodeLease {
  readonly #parts: NodeLeaseParts;
  /** The Lease as the server last returned it; undefined if it has to be read. */
  #latest: Lease | undefined;
  /** Upstream's waits, which do not vary. */
  readonly #retry = new Backoff(retryMsMin, retryMsMax, () => 0);
  /** Time of the next call, by the steady clock. */
  #dueMs: number;

  constructor(parts: NodeLeaseParts) {
    this.#parts = parts;
    this.#dueMs = parts.clock.steadyMs();
  }

  /** Renews the Lease, or creates it. Returns the time until the next call. */
  async beat(): Promise<number> {
    const waitMs = await this.#beat();
    this.#dueMs = this.#parts.clock.steadyMs() + waitMs;
    return waitMs;
  }

  async #beat(): Promise<number> {
    const begins = this.#latest === undefined;
    try {
      const isCreated = begins && (await this.#read());
      if (begins) this.#retry.reset();
      if (!isCreated && this.#latest !== undefined) await this.#renew();
      return begins ? this.#firstIntervalMs() : this.#nextIntervalMs();
    } catch (error) {
      this.#latest = undefined;
      this.#parts.onError(error);
      return this.#retry.next();
    }
  }

  #intervalMs(): number {
    const { durationSeconds, random } = this.#parts;
    return durationSeconds * 1_000 * renewFraction * (1 + jitter * random());
  }

  /** Returns a part of the interval, so that the renewals of nodes that start together or find the server again spread. */
  #firstIntervalMs(): number {
    return this.#intervalMs() * (1 - this.#parts.random());
  }

  /** A late renewal does not delay the next one. Otherwise nodes that were late together would stay together. */
  #nextIntervalMs(): number {
    const { clock } = this.#parts;
    const intervalMs = this.#intervalMs();
    const lateMs = Math.max(0, clock.steadyMs() - this.#dueMs);
    return intervalMs - (lateMs % intervalMs);
  }

  /** Reads the Lease. If it is absent and its owner is known, creates it and returns true. */
  async #read(): Promise<boolean> {
    const { client, nodeName: name, timeoutMs } = this.#parts;
    try {
      this.#latest = kept(await client.get(leaseType, { namespace, name }, { timeoutMs }));
      return false;
    } catch (error) {
      if (!(error instanceof StatusError) || error.code !== 404) throw error;
    }
    const lease = await this.#next(undefined);
    // A Lease without an owner would outlive its node.
    if (lease.metadata.ownerReferences === undefined) return false;
    this.#latest = kept(await client.create(leaseType, lease, { timeoutMs }));
    return true;
  }

  async #renew(): Promise<void> {
    const { client, nodeName: name, timeoutMs } = this.#parts;
    for (let attempt = 1; ; attempt++) {
      try {
        this.#latest = kept(await client.update(leaseType, await this.#next(this.#latest), { timeoutMs }));
        return;
      } catch (error) {
        if (attempt === attemptsMax) throw error;
        const isConflict = error instanceof StatusError && error.code === 409;
        if (isConflict) this.#latest = kept(await client.get(leaseType, { namespace, name }, { timeoutMs }));
      }
    }
  }

  async #next(old: Lease | undefined): Promise<Lease> {
    const { nodeName: name, durationSeconds, clock, nodeUid } = this.#parts;
    const owned = (old?.metadata.ownerReferences ?? []).length > 0;
    const uid = owned ? undefined : await nodeUid();
    const owner = uid === undefined ? {} : { ownerReferences: [{ apiVersion: "v1", kind: "Node", name, uid }] };
    // A renewal is a later time. If the machine's clock was moved back, it is the smallest step.
    const oldMs = Date.parse(old?.spec?.renewTime ?? "");
    const renewTime = formatMicroTime(Math.max(clock.nowMs(), Number.isNaN(oldMs) ? 0 : oldMs + 1));
    return {
      kind: "Lease",
      apiVersion: "coordination.k8s.io/v1",
      metadata: { ...(old?.metadata ?? { name, namespace }), ...owner },
      spec: { ...old?.spec, holderIdentity: name, leaseDurationSeconds: durationSeconds, renewTime },
    };
  }
}

/** Returns a Lease as it is kept. An update without managed fields leaves those of the server as they are. */
function kept(lease: Lease): Lease {
  delete lease.metadata.managedFields;
  return lease;
}

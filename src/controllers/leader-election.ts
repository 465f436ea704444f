import { StatusError } from "../api/status.ts";
import { atMost } from "../process/at-most.ts";
import type { Clock } from "../process/clock.ts";
import type { Registry } from "../registry/registry.ts";
import { serverContext } from "../registry/server-context.ts";
import { type Store, StoreUnavailableError } from "../storage/store.ts";
import {
  bid,
  endMs,
  type LeaseRecord,
  type Observation,
  observe,
  recordOf,
  released,
  withRecord,
} from "./lease-record.ts";

/**
 * Upstream's times. A leader that cannot renew stops at the renew deadline, and the others wait until the lease ends. The
 * difference allows for clock drift and for the time that stopping takes.
 */
const leaseDurationMs = 15_000;
const renewDeadlineMs = 10_000;
const retryPeriodMs = 2_000;
/**
 * Maximum number of retry periods that a candidate waits in addition, so that candidates do not write at the same time.
 */
const jitterPeriodsMax = 1.2;
/** Maximum time for the release of the lease. Otherwise the next leader waits until it ends. */
const releaseMsMax = 1_000;

export interface LeaderElectionParts {
  /** Registry of leases. */
  readonly leases: Registry;
  readonly namespace: string;
  readonly name: string;
  /**
   * Identity of this candidate. Upstream's changes with each process, because two processes may share a host name, so a
   * restarted process waits for the end of its own lease. A candidate that keeps its identity continues at once. That is
   * safe if the identity belongs to a resource that only one process can hold: here the data directory, which the store
   * locks. A process that finds its own lease there knows that the earlier process and its controllers have ended.
   */
  readonly identity: string;
  readonly store: Store;
  readonly clock: Clock;
  /** Returns numbers in [0, 1). */
  readonly random: () => number;
  /** Starts the work of the leader. The work is disposed of when this candidate no longer leads. */
  readonly lead: () => Disposable;
  readonly onError: (error: unknown) => void;
}

/**
 * A candidate for a `coordination.k8s.io/v1` Lease by the rules of client-go, so client-go candidates can compete for the
 * same Lease. Every write has the resourceVersion that was read as a precondition. A candidate that loses the lease
 * competes again.
 */
export class LeaderElection {
  readonly #parts: LeaderElectionParts;
  readonly #running = new DisposableStack();
  #observed: Observation | undefined;
  /** The work of this candidate as the leader. */
  #leading: Disposable | undefined;
  #deadline: Disposable | undefined;
  #next: Disposable | undefined;
  #attempt: Promise<void> | undefined;

  constructor(parts: LeaderElectionParts) {
    this.#parts = parts;
  }

  get isLeader(): boolean {
    return this.#leading !== undefined;
  }

  /** Competes until it is stopped. Takes a free lease at once. */
  start(): this {
    const { store, leases, namespace, name } = this.#parts;
    const key = leases.keyOf(namespace, name);
    this.#running.use(
      store.subscribe((events) => {
        if (this.isLeader || this.#attempt !== undefined) return;
        if (events.some(({ entry }) => entry.key === key)) this.#attemptAfter(0);
      }),
    );
    this.#attemptAfter(0);
    return this;
  }

  /** Stops leading at once, and then releases the lease. Resolves when that is done, or after a time limit. */
  async stop(): Promise<void> {
    if (this.#running.disposed) return;
    this.#running.dispose();
    this.#next?.[Symbol.dispose]();
    this.#stepDown();
    await atMost(this.#parts.clock, releaseMsMax, this.#release());
  }

  #attemptAfter(delayMs: number): void {
    this.#next?.[Symbol.dispose]();
    if (this.#running.disposed) return;
    this.#next = this.#parts.clock.after(delayMs, () => {
      this.#attempt ??= this.#run().finally(() => {
        this.#attempt = undefined;
        this.#attemptAfter(this.#waitMs());
      });
    });
  }

  async #run(): Promise<void> {
    const startedMs = this.#parts.clock.steadyMs();
    try {
      if (await this.#acquireOrRenew()) this.#leadUntil(startedMs + renewDeadlineMs);
      else if (this.#observed?.record.holderIdentity !== this.#parts.identity) this.#stepDown();
    } catch (error) {
      // Another candidate was faster, or the store does not answer. Try again; a leader does so until its deadline.
      const isExpected = error instanceof StatusError || error instanceof StoreUnavailableError;
      if (!isExpected && !this.#running.disposed) this.#parts.onError(error);
    }
  }

  /** Returns true if this candidate holds the lease. @throws StatusError if another writer was faster */
  async #acquireOrRenew(): Promise<boolean> {
    const { leases, namespace, name, clock, identity } = this.#parts;
    const lease = leases.current(namespace, name);
    const nowMs = clock.steadyMs();
    this.#observed = lease === undefined ? undefined : observe(this.#observed, recordOf(lease), nowMs);
    const record = bid({ identity, leaseDurationMs }, this.#observed, nowMs, clock.nowMs());
    if (record === undefined) return false;
    await this.#write(record, lease?.metadata.resourceVersion);
    this.#observed = { record, sinceMs: nowMs };
    return true;
  }

  async #write(record: LeaseRecord, resourceVersion: string | undefined): Promise<void> {
    const { leases, namespace, name } = this.#parts;
    if (resourceVersion === undefined) {
      const metadata = { name, namespace };
      const lease = { kind: "Lease", apiVersion: "coordination.k8s.io/v1", metadata };
      await leases.create(withRecord(lease, record), namespace, serverContext);
      return;
    }
    await leases.update(
      namespace,
      name,
      (old) => withRecord({ ...old, metadata: { ...old.metadata, resourceVersion } }, record),
      serverContext,
    );
  }

  /** @param untilMs counted from before the write, whereas the others count from after it */
  #leadUntil(untilMs: number): void {
    const { clock, lead, onError } = this.#parts;
    if (this.#running.disposed) return;
    this.#deadline?.[Symbol.dispose]();
    const leftMs = untilMs - clock.steadyMs();
    // The write took so long that the lease may have ended. It must be renewed before the leader acts.
    if (leftMs <= 0) return this.#stepDown();
    this.#deadline = clock.after(leftMs, () => {
      this.#stepDown();
      onError(new Error("could not renew the lease of the controllers in time: stopping them on this server"));
    });
    this.#leading ??= lead();
  }

  #stepDown(): void {
    this.#deadline?.[Symbol.dispose]();
    this.#leading?.[Symbol.dispose]();
    this.#leading = undefined;
  }

  #waitMs(): number {
    const { clock, random, identity } = this.#parts;
    const observed = this.#observed;
    if (this.isLeader) return retryPeriodMs;
    const retryMs = retryPeriodMs * (1 + jitterPeriodsMax * random());
    if (observed === undefined || observed.record.holderIdentity === identity) return retryMs;
    // A lease that ends earlier is taken when it ends.
    return Math.max(1, Math.min(retryMs, endMs(observed) - clock.steadyMs()));
  }

  async #release(): Promise<void> {
    const { leases, namespace, name, identity, clock } = this.#parts;
    await this.#attempt;
    const lease = leases.current(namespace, name);
    if (lease === undefined) return;
    const record = recordOf(lease);
    if (record.holderIdentity !== identity) return;
    try {
      await this.#write(released(record, clock.nowMs()), lease.metadata.resourceVersion);
    } catch {
      // If the release fails, the lease ends by itself.
    }
  }
}

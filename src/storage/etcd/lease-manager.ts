import { randomBytes } from "node:crypto";
import type { Clock } from "../../process/clock.ts";
import type { EtcdClient } from "./client/etcd-client.ts";
import { EtcdError } from "./client/etcd-error.ts";
import { methods } from "./client/messages.ts";

/** Maximum number of objects on one lease, and the part of their time by which it may last longer. Both are upstream's. */
const objectsMax = 1_000;
const reuseFraction = 0.05;
const grantTimeoutMs = 5_000;
/** etcd's numbers of leases have 63 bits. Ours are random ones that fit into a double. */
const idBytes = 6;

interface Lease {
  readonly id: number;
  readonly endsMs: number;
  objects: number;
}

export interface LeaseManagerOptions {
  readonly client: EtcdClient;
  readonly clock: Clock;
  /** Maximum time for which a lease is given to further objects. */
  readonly reuseMs: number;
  /** Called with the number of objects of a lease that gets no more. */
  readonly onFull?: (objects: number) => void;
}

/** The leases that delete objects in etcd when their time is over. Objects of about the same age share one. */
export class LeaseManager {
  readonly #options: LeaseManagerOptions;
  /** The newest lease for each time to live, and the grant of the next one. */
  readonly #leases = new Map<number, Lease>();
  readonly #grants = new Map<number, Promise<Lease>>();

  constructor(options: LeaseManagerOptions) {
    this.#options = options;
  }

  /**
   * Returns a lease that lasts at least `ttlSeconds`, and not much longer. Callers that wait for a grant share it, and its
   * failure.
   * @throws EtcdError
   */
  async leaseFor(ttlSeconds: number, timeoutMs: number): Promise<number> {
    const endMs = this.#options.clock.steadyMs() + timeoutMs;
    let lease = this.#leases.get(ttlSeconds);
    if (lease === undefined || !this.#fits(lease, ttlSeconds)) {
      do lease = await this.#granted(ttlSeconds, endMs - this.#options.clock.steadyMs());
      while (lease.objects >= objectsMax);
    }
    lease.objects++;
    return lease.id;
  }

  /** Forgets a lease that etcd does not know any more. */
  forget(ttlSeconds: number): void {
    this.#leases.delete(ttlSeconds);
  }

  #fits({ endsMs, objects }: Lease, ttlSeconds: number): boolean {
    const leftMs = endsMs - this.#options.clock.steadyMs();
    return objects < objectsMax && leftMs > ttlSeconds * 1_000;
  }

  /** Waits for the next lease, and asks for it if nobody has. */
  async #granted(ttlSeconds: number, timeoutMs: number): Promise<Lease> {
    let grant = this.#grants.get(ttlSeconds);
    if (grant === undefined) {
      grant = this.#grant(ttlSeconds).finally(() => this.#grants.delete(ttlSeconds));
      this.#grants.set(ttlSeconds, grant);
    }
    const over = Promise.withResolvers<never>();
    const late = new EtcdError("notSent", "etcd did not grant a lease in time");
    using _timer = this.#options.clock.after(Math.max(0, timeoutMs), () => over.reject(late));
    return await Promise.race([grant, over.promise]);
  }

  async #grant(ttlSeconds: number): Promise<Lease> {
    const { client, clock, reuseMs, onFull } = this.#options;
    const ttl = ttlSeconds + Math.floor(Math.min(reuseMs / 1_000, ttlSeconds * reuseFraction));
    const id = randomBytes(idBytes).readUIntBE(0, idBytes) + 1;
    const endsMs = clock.steadyMs() + ttl * 1_000;
    try {
      await client.repeat(methods.leaseGrant, { ttl, id }, grantTimeoutMs);
    } catch (error) {
      if (!(error instanceof EtcdError)) throw error;
      // The write that needs the lease was not sent, whatever became of the lease.
      if (error.kind === "interrupted") throw new EtcdError("notSent", error.message);
      // An earlier attempt, whose answer was lost, has made it.
      if (error.kind !== "leaseExists") throw error;
    }
    const former = this.#leases.get(ttlSeconds);
    if (former !== undefined) onFull?.(former.objects);
    const lease = { id, endsMs, objects: 0 };
    this.#leases.set(ttlSeconds, lease);
    return lease;
  }
}

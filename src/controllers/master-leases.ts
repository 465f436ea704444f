import { stringifyJson } from "../api/codec/json.ts";
import { parseIp } from "../api/validation/ip.ts";
import { atMost } from "../process/at-most.ts";
import type { Clock } from "../process/clock.ts";
import { recordIndex } from "../storage/record-index.ts";
import { masterLeasePrefix } from "../storage/record-prefixes.ts";
import { splitAtResourceVersion } from "../storage/resource-version-gap.ts";
import { type Store, StoreUnavailableError } from "../storage/store.ts";
import type { ServerRecord, ServerRecords } from "./server-records.ts";

/** Interval of renewals; a lease lasts 15 s. */
const renewIntervalMs = 10_000;
/** Maximum time that a stopping server waits for the removal of its lease, which also expires by itself. */
const leaveMsMax = 1_000;

export interface MasterLeasesParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly servers: Pick<ServerRecords, "all" | "follow" | "leave">;
  /** Address of this server; undefined when only its own machine can reach it. */
  readonly address: string | undefined;
  readonly port: number;
  readonly onError: (error: unknown) => void;
}

/**
 * The API servers on one etcd, among them kube-apiservers, which know each other by leases only. A lease has no port, so
 * all servers are expected to use the same one, as upstream does.
 */
export class MasterLeases {
  readonly #parts: MasterLeasesParts;
  readonly #running = new DisposableStack();
  #generation = 0;

  constructor(parts: MasterLeasesParts) {
    this.#parts = parts;
  }

  /** Renews the lease of this server until disposed. */
  start(): Disposable {
    const { clock, onError } = this.#parts;
    const renew = () =>
      void this.renew().catch((error: unknown) => {
        if (!(error instanceof StoreUnavailableError)) onError(error);
      });
    this.#running.use(clock.every(renewIntervalMs, renew));
    renew();
    return this.#running;
  }

  /** Writes the lease of this server. */
  async renew(): Promise<void> {
    const { store, address } = this.#parts;
    if (address === undefined || this.#running.disposed) return;
    this.#generation++;
    // The generation makes each renewal a change, as upstream's does.
    const body = {
      prefix: Buffer.from('{"metadata":{"resourceVersion":"'),
      suffix: Buffer.from(
        `","generation":${this.#generation}},"subsets":${stringifyJson([{ addresses: [{ ip: address }] }])}}`,
      ),
    };
    const operation = { kind: "put", index: recordIndex, body } as const;
    await store.commit({ key: masterLeasePrefix + address, expect: { kind: "any" }, operation });
  }

  /** Returns the servers with a record, and the addresses of the others. */
  all(): readonly ServerRecord[] {
    const { store, servers, port } = this.#parts;
    const known = servers.all();
    const addresses = new Set(known.map(({ address }) => address));
    const leased = store.scan(masterLeasePrefix).map(({ key }) => key.slice(masterLeasePrefix.length));
    const others = leased.filter((address) => !addresses.has(address) && parseIp(address) !== undefined);
    return [...known, ...others.map((address) => ({ id: address, port, address }))];
  }

  follow(listener: () => void): Disposable {
    const { store, servers } = this.#parts;
    const following = new DisposableStack();
    following.use(servers.follow(listener));
    following.use(
      store.subscribe((events) => {
        if (events.some(({ type, entry }) => type !== "MODIFIED" && entry.key.startsWith(masterLeasePrefix)))
          listener();
      }),
    );
    return following;
  }

  /** Withdraws the address of this server. */
  async leave(): Promise<void> {
    const { store, servers, address, clock } = this.#parts;
    this.#running.dispose();
    await servers.leave();
    const lease = address === undefined ? undefined : store.get(masterLeasePrefix + address);
    // Another server on this machine has the same lease.
    if (lease === undefined || servers.all().some((server) => server.address === address)) return;
    const operation = { kind: "delete", last: splitAtResourceVersion(lease.body) } as const;
    const removal = store.commit({ key: lease.key, expect: { kind: "revision", revision: lease.revision }, operation });
    await atMost(
      clock,
      leaveMsMax,
      removal.catch(() => undefined),
    );
  }
}

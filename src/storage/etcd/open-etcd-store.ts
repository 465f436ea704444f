import type { Revision } from "../../api/revision.ts";
import { atMost } from "../../process/at-most.ts";
import { type Clock, systemClock } from "../../process/clock.ts";
import { StartupError } from "../../process/startup-error.ts";
import { AppliedFeed } from "../applied-feed.ts";
import { type Store, StoreUnavailableError } from "../store.ts";
import { type EndpointChange, EtcdClient } from "./client/etcd-client.ts";
import { type EtcdFiles, readSecrets } from "./client/etcd-credentials.ts";
import type { EtcdEndpoint } from "./client/etcd-endpoint.ts";
import { EtcdError } from "./client/etcd-error.ts";
import { CompactedMark } from "./compacted-mark.ts";
import { EtcdHistory } from "./etcd-history.ts";
import { EtcdMirror } from "./etcd-mirror.ts";
import { EtcdStore, readTimeoutMs } from "./etcd-store.ts";
import { EtcdWriter } from "./etcd-writer.ts";
import type { EtcdLayout } from "./layout/layout.ts";
import { LeaseManager } from "./lease-manager.ts";
import { PendingWrites } from "./pending-writes.ts";
import { ReadBarrier } from "./read-barrier.ts";
import { rootPrefix } from "./root-prefix.ts";
import { SameEtcd } from "./same-etcd.ts";

/** Time in which etcd must answer at start; long enough for one that starts at the same time. */
const openTimeoutMsDefault = 20_000;

export interface EtcdStoreOptions {
  readonly endpoints: readonly EtcdEndpoint[];
  /** The flag that names the endpoints, for messages; by default `--etcd-servers`. */
  readonly flag?: string;
  readonly files: EtcdFiles;
  readonly layout: EtcdLayout;
  /** The store of the objects on which writes depend; by default this one. */
  readonly premiseStore?: Pick<Store, "get"> | undefined;
  readonly clock?: Clock;
  readonly leaseReuseMs: number;
  readonly openTimeoutMs?: number;
  readonly observer?: EtcdObserver;
}

/** Receives what happens between this server and etcd. */
export interface EtcdObserver {
  endpointChanged(change: EndpointChange): void;
  watchInterrupted(reason: string): void;
  /** The mirror missed changes that are compacted, and has loaded all objects again. */
  reloaded(revision: Revision): void;
  leaseFull(objects: number): void;
}

export interface OpenEtcdStore {
  readonly store: EtcdStore;
  readonly client: EtcdClient;
  /** Resolves with the reason when this store can never continue. */
  readonly failed: Promise<Error>;
  /** Tries to read again what could not be decrypted. @throws EtcdError */
  reopen(): Promise<void>;
}

/** Opens the store, and resolves when all objects are loaded. @throws StartupError */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<OpenEtcdStore> {
  const { endpoints, flag = "--etcd-servers", files, layout, clock = systemClock, observer, leaseReuseMs } = options;
  const { premiseStore, openTimeoutMs = openTimeoutMsDefault } = options;
  const named = `${flag}=${endpoints.map(({ url }) => url).join(",")}`;
  readSecrets(files);
  const failed = Promise.withResolvers<Error>();
  using parts = new DisposableStack();
  const onChange = (change: EndpointChange) => observer?.endpointChanged(change);
  const client = parts.use(new EtcdClient({ endpoints, files, clock, onChange }));
  if (!(await client.connected(openTimeoutMs))) throw unreachable(named, client.failure);

  const feed = new AppliedFeed(clock);
  const pending = new PendingWrites();
  const compacted = new CompactedMark(client);
  const key = layout.etcdKey(rootPrefix);
  const known = () => mirror.objects.revision;
  const fail = (message: string): void => {
    mirror[Symbol.dispose]();
    store.fail(new StoreUnavailableError(message));
    failed.resolve(new Error(message));
  };
  const same = new SameEtcd(fail);
  const barrier = new ReadBarrier({ client, key, timeoutMs: readTimeoutMs, known, same });
  const mirror = parts.use(
    new EtcdMirror({
      client,
      layout,
      feed,
      pending,
      compacted,
      confirm: () => barrier.confirm(),
      onInterrupted: (reason) => observer?.watchInterrupted(reason),
      onReloaded: (revision) => observer?.reloaded(revision),
    }),
  );
  const leases = new LeaseManager({
    client,
    clock,
    reuseMs: leaseReuseMs,
    onFull: (objects) => observer?.leaseFull(objects),
  });
  const reached = (revision: Revision, timeoutMs: number) => feed.waitFor(revision, known(), timeoutMs);
  const writer = new EtcdWriter({ client, layout, mirror, pending, leases, clock, same, reached, premiseStore });
  const history = new EtcdHistory({ client, layout, compacted, clock });
  const store = new EtcdStore({ client, layout, mirror, writer, history, barrier, compacted, feed, clock });
  try {
    await compacted.learn();
    await mirror.load();
    let isWatching = false;
    const watching = mirror.follow().then(() => {
      isWatching = true;
    });
    await atMost(clock, openTimeoutMs, watching);
    if (!isWatching) throw unreachable(named, client.failure ?? "etcd does not open a watch");
  } catch (error) {
    if (!(error instanceof EtcdError)) throw error;
    throw error.kind === "denied" ? denied(named, error.message) : unreachable(named, error.message);
  }
  parts.move();
  return { store, client, failed: failed.promise, reopen: () => mirror.reopen() };
}

function denied(named: string, reason: string): StartupError {
  return new StartupError(
    `${named}: ${reason}: give the user of --etcd-certfile permission to read all keys, and to write those ` +
      "below --etcd-prefix",
  );
}

function unreachable(named: string, reason: string | undefined): StartupError {
  return new StartupError(
    `${named}: ${reason}: start etcd, or correct the addresses and the certificates of --etcd-cafile, ` +
      "--etcd-certfile and --etcd-keyfile",
  );
}

import type { Key } from "../api/entry.ts";
import { type Revision, toRevision } from "../api/revision.ts";
import type { Scheme } from "../kinds/scheme.ts";
import { systemClock } from "../process/clock.ts";
import type { Log } from "../process/logs.ts";
import { thrownText } from "../process/thrown-text.ts";
import type { ResourceTransformers } from "../storage/encryption/resource-transformers.ts";
import type { EtcdEndpoint } from "../storage/etcd/client/etcd-endpoint.ts";
import { Compactor } from "../storage/etcd/compactor.ts";
import { kindFinder } from "../storage/etcd/layout/kind-finder.ts";
import { KubernetesLayout } from "../storage/etcd/layout/kubernetes-layout.ts";
import { type EtcdObserver, openEtcdStore } from "../storage/etcd/open-etcd-store.ts";
import type { Store } from "../storage/store.ts";
import type { EtcdOptions } from "./config/etcd.ts";
import type { ServerConfig } from "./config/server-options.ts";
import type { EtcdMetrics } from "./metrics/etcd-metrics.ts";
import { pollSize } from "./poll-size.ts";

export interface OneEtcdParts {
  readonly config: ServerConfig;
  readonly etcd: EtcdOptions;
  readonly endpoints: readonly EtcdEndpoint[];
  /** The flag that names the endpoints, for messages. */
  readonly flag: string;
  /** The name of this etcd in metrics. */
  readonly id: string;
  readonly scheme: Scheme;
  /** Reports whether this etcd keeps the object of a key. */
  readonly holds: (key: Key) => boolean;
  /** The store with the definitions of custom kinds, and with the objects on which writes depend; by default this one. */
  readonly main?: Store | undefined;
  readonly transformers: ResourceTransformers;
  readonly metrics: EtcdMetrics;
  readonly log: Log;
}

/** An etcd with the objects that a server keeps there. */
export interface OneEtcd extends AsyncDisposable {
  readonly store: Store;
  /** Resolves with the reason when the server can never continue on it. */
  readonly failed: Promise<Error>;
  /** Removes old history, in turns with the other servers. */
  compact(onError: (error: unknown) => void): Disposable;
  useTransformers(transformers: ResourceTransformers): void;
  reopen(): void;
}

/** Opens the store on an etcd. Resolves when all its objects are loaded. @throws StartupError */
export async function openOneEtcd(parts: OneEtcdParts): Promise<OneEtcd> {
  const { config, etcd, endpoints, flag, id, scheme, holds, main, transformers, metrics, log } = parts;
  const { clock, eventTtlMs } = config;
  const layout = new KubernetesLayout({
    infos: scheme.storedVersions(),
    mediaType: etcd.mediaType,
    kindOf: kindFinder((key) => (main ?? opened.store).get(key)),
    holds,
    prefix: etcd.prefix,
    eventTtlSeconds: Math.ceil(eventTtlMs / msPerSecond),
    transformers,
    clock,
  });
  const { files, leaseReuseMs } = etcd;
  // The network does not follow the clock of a test.
  const opened = await openEtcdStore({
    endpoints,
    flag,
    files,
    layout,
    premiseStore: main,
    clock: systemClock,
    leaseReuseMs,
    observer: observerOf(log, metrics),
  });
  const { store, client, failed } = opened;
  const { dbMetricPollIntervalMs: intervalMs } = etcd;
  const polling = pollSize({ client, clock, intervalMs, onSize: (bytes) => metrics.sizes.set(id, bytes) });
  log.info("etcd: all objects are loaded", {
    endpoint: client.endpoint,
    objects: store.size,
    revision: store.revision,
  });
  const reopen = () =>
    void opened
      .reopen()
      .catch((error) => log.error("etcd: objects were not read again", { reason: thrownText(error) }));
  return {
    store,
    failed,
    compact(onError) {
      const { compactionIntervalMs } = etcd;
      if (compactionIntervalMs === 0) return { [Symbol.dispose]: () => undefined };
      const compact = (revision: number): Promise<void> => store.compact(toRevision(revision));
      return new Compactor({ client, clock, intervalMs: compactionIntervalMs, compact, onError }).start();
    },
    useTransformers(changed) {
      layout.useTransformers(changed);
      reopen();
    },
    reopen,
    async [Symbol.asyncDispose]() {
      polling[Symbol.dispose]();
      await store.close();
    },
  };
}

const msPerSecond = 1_000;

function observerOf(log: Log, metrics: EtcdMetrics): EtcdObserver {
  return {
    endpointChanged(change) {
      if ("to" in change) log.info("etcd: requests go to another member", { endpoint: change.to });
      else log.error("etcd: no member answers", { reason: change.reason });
    },
    watchInterrupted: (reason) => log.warn("etcd: the watch was interrupted, and begins again", { reason }),
    reloaded: (revision: Revision) =>
      log.warn("etcd: changes were compacted before they arrived; all objects are loaded again", { revision }),
    leaseFull: (objects) => metrics.leaseFull(objects),
  };
}

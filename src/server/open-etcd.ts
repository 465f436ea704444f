import { toRevision } from "../api/revision.ts";
import { Scheme } from "../kinds/scheme.ts";
import { systemClock } from "../process/clock.ts";
import type { Log } from "../process/logs.ts";
import { thrownText } from "../process/thrown-text.ts";
import type { ResourceTransformers } from "../storage/encryption/resource-transformers.ts";
import { Compactor } from "../storage/etcd/compactor.ts";
import { kindFinder } from "../storage/etcd/layout/kind-finder.ts";
import { KubernetesLayout } from "../storage/etcd/layout/kubernetes-layout.ts";
import { type EtcdObserver, openEtcdStore } from "../storage/etcd/open-etcd-store.ts";
import type { EtcdOptions } from "./config/etcd.ts";
import type { ServerConfig } from "./config/server-options.ts";
import { EtcdMetrics } from "./metrics/etcd-metrics.ts";
import { pollSize } from "./poll-size.ts";
import type { Seal, SealedStore } from "./sealed-store.ts";

/** Returns a store on etcd, which is opened when it is sealed. */
export function openEtcd(config: ServerConfig, etcd: EtcdOptions, log: Log): AsyncDisposable & { readonly seal: Seal } {
  const parts = new AsyncDisposableStack();
  return {
    async seal(transformers) {
      const { sealed, close } = await open(config, etcd, transformers, log);
      parts.defer(close);
      return sealed;
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

async function open(
  config: ServerConfig,
  etcd: EtcdOptions,
  transformers: ResourceTransformers,
  log: Log,
): Promise<{ readonly sealed: SealedStore; readonly close: () => Promise<void> }> {
  const { clock, eventTtlMs, runtimeConfig, featureGates } = config;
  const metrics = new EtcdMetrics();
  const scheme = Scheme.builtIn({ runtimeConfig, gateEnabled: (gate) => featureGates.enabled(gate) });
  const layout = new KubernetesLayout({
    infos: scheme.storedVersions(),
    mediaType: etcd.mediaType,
    kindOf: kindFinder((key) => opened.store.get(key)),
    prefix: etcd.prefix,
    eventTtlSeconds: Math.ceil(eventTtlMs / msPerSecond),
    transformers,
    clock,
  });
  const { endpoints, files, leaseReuseMs } = etcd;
  const observer = observerOf(log, metrics);
  // The network does not follow the clock of a test.
  const opened = await openEtcdStore({ endpoints, files, layout, clock: systemClock, leaseReuseMs, observer });
  const { store, client, failed } = opened;
  const polling = pollSize({ client, clock, intervalMs: etcd.dbMetricPollIntervalMs, metrics });
  log.info("etcd: all objects are loaded", {
    endpoint: client.endpoint,
    objects: store.size,
    revision: store.revision,
  });
  const reopen = () =>
    void opened
      .reopen()
      .catch((error) => log.error("etcd: objects were not read again", { reason: thrownText(error) }));
  const sealed: SealedStore = {
    store,
    etcd: {
      options: etcd,
      metrics,
      failed,
      compact(onError) {
        const intervalMs = etcd.compactionIntervalMs;
        if (intervalMs === 0) return { [Symbol.dispose]: () => undefined };
        const compact = (revision: number) => store.compact(toRevision(revision));
        return new Compactor({ client, clock, intervalMs, compact, onError }).start();
      },
    },
    useTransformers(changed) {
      layout.useTransformers(changed);
      reopen();
    },
    reopen,
    [Symbol.dispose]: () => polling[Symbol.dispose](),
  };
  return { sealed, close: () => store.close() };
}

const msPerSecond = 1_000;

function observerOf(log: Log, metrics: EtcdMetrics): EtcdObserver {
  return {
    endpointChanged(change) {
      if ("to" in change) log.info("etcd: requests go to another member", { endpoint: change.to });
      else log.error("etcd: no member answers", { reason: change.reason });
    },
    watchInterrupted: (reason) => log.warn("etcd: the watch was interrupted, and begins again", { reason }),
    reloaded: (revision) =>
      log.warn("etcd: changes were compacted before they arrived; all objects are loaded again", { revision }),
    leaseFull: (objects) => metrics.leaseFull(objects),
  };
}

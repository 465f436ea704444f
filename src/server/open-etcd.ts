import type { Key } from "../api/entry.ts";
import { Scheme } from "../kinds/scheme.ts";
import type { Log } from "../process/logs.ts";
import type { ResourceTransformers } from "../storage/encryption/resource-transformers.ts";
import { eventPrefix } from "../storage/etcd/layout/kubernetes-layout.ts";
import type { EtcdOptions } from "./config/etcd.ts";
import type { ServerConfig } from "./config/server-options.ts";
import { EtcdMetrics } from "./metrics/etcd-metrics.ts";
import { type OneEtcd, type OneEtcdParts, openOneEtcd } from "./one-etcd.ts";
import type { Seal, SealedStore } from "./sealed-store.ts";

/** Returns a store on etcd, which is opened when it is sealed. */
export function openEtcd(config: ServerConfig, etcd: EtcdOptions, log: Log): AsyncDisposable & { readonly seal: Seal } {
  const parts = new AsyncDisposableStack();
  return {
    async seal(transformers) {
      const { sealed, opened } = await open(config, etcd, transformers, log);
      parts.use(opened);
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
): Promise<{ readonly sealed: SealedStore; readonly opened: AsyncDisposable }> {
  await using opening = new AsyncDisposableStack();
  const { runtimeConfig, featureGates } = config;
  const { endpoints, eventEndpoints } = etcd;
  const metrics = new EtcdMetrics();
  const scheme = Scheme.builtIn({ runtimeConfig, gateEnabled: (gate) => featureGates.enabled(gate) });
  const shared = { config, etcd, scheme, transformers, metrics, log };
  const use = async (own: Omit<OneEtcdParts, keyof typeof shared>): Promise<OneEtcd> =>
    opening.use(await openOneEtcd({ ...shared, ...own }));

  const main = await use({
    endpoints,
    flag: "--etcd-servers",
    id: "etcd-0",
    holds: eventEndpoints === undefined ? () => true : (key) => !isEvent(key),
  });
  const ofEvents =
    eventEndpoints &&
    (await use({
      endpoints: eventEndpoints,
      flag: "--etcd-servers-overrides",
      id: "etcd-1",
      holds: isEvent,
      main: main.store,
    }));
  const all = ofEvents === undefined ? [main] : [main, ofEvents];
  const sealed: SealedStore = {
    store: main.store,
    etcd: {
      options: etcd,
      metrics,
      eventStore: ofEvents?.store,
      failed: Promise.race(all.map(({ failed }) => failed)),
      compact(onError) {
        const compacting = new DisposableStack();
        for (const one of all) compacting.use(one.compact(onError));
        return compacting;
      },
    },
    useTransformers(changed) {
      for (const one of all) one.useTransformers(changed);
    },
    reopen() {
      for (const one of all) one.reopen();
    },
    [Symbol.dispose]: () => undefined,
  };
  return { sealed, opened: opening.move() };
}

function isEvent(key: Key): boolean {
  return key.startsWith(eventPrefix);
}

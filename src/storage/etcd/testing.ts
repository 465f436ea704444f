import type { Key, ObjectIndex } from "../../api/entry.ts";
import { fillGap } from "../resource-version-gap.ts";
import type { ProposedBody } from "../store.ts";
import { parseEndpoints } from "./client/etcd-endpoint.ts";
import type { EtcdLayout } from "./layout/layout.ts";
import { type EtcdStoreOptions, type OpenEtcdStore, openEtcdStore } from "./open-etcd-store.ts";

/** Opens a store with the plain layout. */
export function openTestStore(
  urls: readonly string[],
  options: Partial<EtcdStoreOptions> = {},
): Promise<OpenEtcdStore> {
  return openEtcdStore({
    endpoints: parseEndpoints(urls, "--etcd-servers"),
    files: { ca: undefined, certificate: undefined, key: undefined },
    layout: plainLayout,
    leaseReuseMs: 60_000,
    ...options,
  });
}

interface PlainValue {
  readonly index: ObjectIndex;
  readonly prefix: string;
  readonly suffix: string;
}

/** Stores objects as JSON, with their index. */
export const plainLayout: EtcdLayout = {
  etcdKey: (key) => key,
  keyOf: (etcdKey) => (etcdKey.startsWith("/registry/") ? etcdKey : undefined),
  valueOf(_key: Key, index: ObjectIndex, { prefix, suffix }: ProposedBody) {
    const value: PlainValue = {
      index,
      prefix: Buffer.from(prefix).toString(),
      suffix: Buffer.from(suffix).toString(),
    };
    return Buffer.from(JSON.stringify(value));
  },
  entryOf(key, value, { createRevision, modRevision }) {
    const { index, prefix, suffix } = JSON.parse(Buffer.from(value).toString()) as PlainValue;
    const { labels, fields, owners } = index;
    const body = fillGap({ prefix: Buffer.from(prefix), suffix: Buffer.from(suffix) }, modRevision);
    return { key, revision: modRevision, createRevision, index: { ...index, labels, fields, owners }, body };
  },
  isStale: () => false,
  ttlSecondsOf: () => undefined,
};

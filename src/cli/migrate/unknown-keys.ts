import type { Key } from "../../api/entry.ts";
import type { EtcdClient } from "../../storage/etcd/client/etcd-client.ts";
import { rangeOfPrefix } from "../../storage/etcd/key-range.ts";
import type { EtcdLayout } from "../../storage/etcd/layout/layout.ts";
import { rangePages } from "../../storage/etcd/range-pages.ts";
import { rootPrefix } from "../../storage/etcd/root-prefix.ts";
import { ownPrefix } from "../../storage/record-prefixes.ts";

/** Records that servers make again, ours and kube-apiserver's. No client sees them. */
const remadePrefixes: readonly Key[] = [ownPrefix, "/registry/peerserverleases/"];

/** Returns the keys in etcd below the prefix at which the layout finds no object, apart from records. @throws EtcdError */
export async function unknownKeys(client: Pick<EtcdClient, "repeat">, layout: EtcdLayout): Promise<string[]> {
  const records = remadePrefixes.map((prefix) => layout.etcdKey(prefix));
  const unknown: string[] = [];
  for await (const { kvs } of rangePages(client, rangeOfPrefix(layout.etcdKey(rootPrefix)), { keysOnly: true })) {
    for (const kv of kvs) {
      const found = kv.key.toString();
      if (layout.keyOf(found) === undefined && !records.some((prefix) => found.startsWith(prefix))) unknown.push(found);
    }
  }
  return unknown;
}

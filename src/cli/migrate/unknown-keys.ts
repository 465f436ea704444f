import type { Key } from "../../api/entry.ts";
import type { EtcdClient } from "../../storage/etcd/client/etcd-client.ts";
import { methods, type PageRequest } from "../../storage/etcd/client/messages.ts";
import { rangeOfPrefix } from "../../storage/etcd/key-range.ts";
import type { EtcdLayout } from "../../storage/etcd/layout/layout.ts";
import { rootPrefix } from "../../storage/etcd/root-prefix.ts";
import { ownPrefix } from "../../storage/record-prefixes.ts";

const pageKeysMax = 10_000;
const pageTimeoutMs = 30_000;
/** Records that servers make again, ours and kube-apiserver's. No client sees them. */
const remadePrefixes: readonly Key[] = [ownPrefix, "/registry/peerserverleases/"];

/** Returns the keys in etcd below the prefix at which the layout finds no object, apart from records. @throws EtcdError */
export async function unknownKeys(client: Pick<EtcdClient, "repeat">, layout: EtcdLayout): Promise<string[]> {
  const records = remadePrefixes.map((prefix) => layout.etcdKey(prefix));
  const { key, rangeEnd } = rangeOfPrefix(layout.etcdKey(rootPrefix));
  const unknown: string[] = [];
  for (let start: Buffer | undefined = Buffer.from(key); start !== undefined; ) {
    const request: PageRequest = { key: start, rangeEnd, limit: pageKeysMax, revision: 0, keysOnly: true };
    const { kvs, more } = await client.repeat(methods.page, request, pageTimeoutMs);
    for (const kv of kvs) {
      const found = kv.key.toString();
      if (layout.keyOf(found) === undefined && !records.some((prefix) => found.startsWith(prefix))) unknown.push(found);
    }
    const last = kvs.at(-1);
    start = more && last !== undefined ? Buffer.concat([last.key, Buffer.alloc(1)]) : undefined;
  }
  return unknown;
}

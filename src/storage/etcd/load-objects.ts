import { type Revision, toRevision } from "../../api/revision.ts";
import { compareKeys } from "../key-order.ts";
import type { EtcdClient } from "./client/etcd-client.ts";
import { type KeyValue, numberOf } from "./client/messages.ts";
import { type ReadEntry, readEntry } from "./entry-reader.ts";
import type { KeyRange } from "./key-range.ts";
import type { EtcdLayout } from "./layout/layout.ts";
import { rangePages } from "./range-pages.ts";

export interface LoadedObjects {
  readonly revision: Revision;
  /** In key order. */
  readonly found: readonly ReadEntry[];
}

/**
 * Reads all objects of a range at one revision.
 * @param at the revision; undefined for the current one
 * @param limit maximum number of objects that can be read; at least 1. Others may lie between them
 * @throws EtcdError
 */
export async function loadObjects(
  client: EtcdClient,
  layout: EtcdLayout,
  range: KeyRange,
  { at, limit = Number.POSITIVE_INFINITY }: { at?: Revision; limit?: number } = {},
): Promise<LoadedObjects> {
  const found: ReadEntry[] = [];
  let revision = at;
  let readable = 0;
  const needed = () => limit - readable;
  for await (const { header, kvs } of rangePages(client, range, { revision: at, needed })) {
    revision ??= toRevision(numberOf(header.revision));
    for (const one of await Promise.all(kvs.map((kv) => decode(layout, kv)))) {
      if (one === undefined) continue;
      found.push(one);
      if (!(one instanceof Error)) readable++;
    }
  }
  return { revision: revision as Revision, found: found.sort((a, b) => compareKeys(a.key, b.key)) };
}

function decode(layout: EtcdLayout, kv: KeyValue): ReadEntry | Promise<ReadEntry> | undefined {
  const key = layout.keyOf(kv.key.toString());
  return key === undefined ? undefined : readEntry(layout, key, kv);
}

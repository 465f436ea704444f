import { type Revision, toRevision } from "../../api/revision.ts";
import { compareKeys } from "../key-order.ts";
import type { EtcdClient } from "./client/etcd-client.ts";
import { EtcdError } from "./client/etcd-error.ts";
import { type KeyValue, methods, numberOf, type RangeResponse } from "./client/messages.ts";
import { type ReadEntry, readEntry } from "./entry-reader.ts";
import type { KeyRange } from "./key-range.ts";
import type { EtcdLayout } from "./layout/layout.ts";

/** Number of keys in a page. Pages of large objects get smaller. */
const pageKeysMax = 1_000;
/** Maximum time for a page. */
const pageTimeoutMs = 30_000;

export interface LoadedObjects {
  readonly revision: Revision;
  /** In key order. */
  readonly found: readonly ReadEntry[];
}

/**
 * Reads all objects of a range at one revision, page by page.
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
  for (let page: Page | undefined = new Page(Buffer.from(range.key), range.rangeEnd, limit); page !== undefined; ) {
    const { header, kvs, more } = await page.read(client, revision);
    revision ??= toRevision(numberOf(header.revision));
    const decoded = kvs.map((kv) => decode(layout, kv));
    for (const one of await Promise.all(decoded)) {
      if (one === undefined) continue;
      found.push(one);
      if (!(one instanceof Error)) readable++;
    }
    const last = kvs.at(-1);
    page = more && last !== undefined && readable < limit ? page.behind(last.key, readable) : undefined;
  }
  return { revision: revision as Revision, found: found.sort((a, b) => compareKeys(a.key, b.key)) };
}

function decode(layout: EtcdLayout, kv: KeyValue): ReadEntry | Promise<ReadEntry> | undefined {
  const key = layout.keyOf(kv.key.toString());
  return key === undefined ? undefined : readEntry(layout, key, kv);
}

/** The next page to read. */
class Page {
  /** The first key. */
  readonly #key: Uint8Array;
  readonly #rangeEnd: string;
  readonly #limit: number;
  readonly #left: number;
  #size: number;

  constructor(key: Uint8Array, rangeEnd: string, limit: number, left = limit, size = pageKeysMax) {
    this.#key = key;
    this.#rangeEnd = rangeEnd;
    this.#limit = limit;
    this.#left = left;
    this.#size = size;
  }

  async read(client: EtcdClient, revision: Revision | undefined): Promise<RangeResponse> {
    for (;;) {
      const limit = Math.min(this.#left, this.#size);
      const request = { key: this.#key, rangeEnd: this.#rangeEnd, limit, revision: revision ?? 0 };
      try {
        return await client.repeat(methods.page, request, pageTimeoutMs);
      } catch (error) {
        if (!(error instanceof EtcdError) || error.kind !== "tooLarge" || this.#size === 1) throw error;
        this.#size = Math.ceil(this.#size / 2);
      }
    }
  }

  /** Returns the page behind a key. */
  behind(key: Uint8Array, readable: number): Page {
    const next = Buffer.concat([key, Buffer.alloc(1)]);
    return new Page(next, this.#rangeEnd, this.#limit, this.#limit - readable, this.#size);
  }
}

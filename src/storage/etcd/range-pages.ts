import type { EtcdClient } from "./client/etcd-client.ts";
import { EtcdError } from "./client/etcd-error.ts";
import { methods, numberOf, type RangeResponse } from "./client/messages.ts";
import type { KeyRange } from "./key-range.ts";

/** Number of keys in a page. Pages of large objects get smaller. */
const pageKeysMax = 1_000;
/** Maximum time for a page. */
const pageTimeoutMs = 30_000;

export interface PageOptions {
  /** The revision to read; by default the current one of the first page. */
  readonly revision?: number | undefined;
  readonly keysOnly?: boolean;
  /** Returns the number of keys that are still needed; at least 1 at first. */
  readonly needed?: () => number;
}

/** Reads a range at one revision, page by page. @throws EtcdError */
export async function* rangePages(
  client: Pick<EtcdClient, "repeat">,
  { key, rangeEnd }: KeyRange,
  { revision = 0, keysOnly = false, needed = () => Number.POSITIVE_INFINITY }: PageOptions = {},
): AsyncGenerator<RangeResponse> {
  let at = revision;
  let keysMax = pageKeysMax;
  for (let next: Uint8Array | undefined = Buffer.from(key); next !== undefined && needed() > 0; ) {
    const limit = Math.min(keysMax, needed());
    let page: RangeResponse;
    try {
      page = await client.repeat(methods.page, { key: next, rangeEnd, limit, revision: at, keysOnly }, pageTimeoutMs);
    } catch (error) {
      if (!(error instanceof EtcdError) || error.kind !== "tooLarge" || keysMax === 1) throw error;
      keysMax = Math.ceil(keysMax / 2);
      continue;
    }
    at ||= numberOf(page.header.revision);
    yield page;
    const last = page.kvs.at(-1);
    next = page.more && last !== undefined ? Buffer.concat([last.key, Buffer.alloc(1)]) : undefined;
  }
}

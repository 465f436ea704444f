import { expect, test } from "bun:test";
import type { Key } from "../../api/entry.ts";
import { toRevision } from "../../api/revision.ts";
import { systemClock } from "../../process/clock.ts";
import { CorruptEntryError, StoreUnavailableError } from "../store.ts";
import type { EtcdClient } from "./client/etcd-client.ts";
import type { WatchListener } from "./client/etcd-connection.ts";
import { EtcdError } from "./client/etcd-error.ts";
import { eventType, type KeyValue, methods, type WatchCreateRequest, type WatchEvent } from "./client/messages.ts";
import { CompactedMark } from "./compacted-mark.ts";
import { EtcdHistory } from "./etcd-history.ts";
import type { EtcdLayout } from "./layout/layout.ts";
import { plainLayout } from "./testing.ts";

const prefix: Key = "/registry/pods/";
const until = toRevision(9);

function kvAt(name: string, modRevision: number): KeyValue {
  const value = JSON.stringify({ index: {}, prefix: `{"v":"`, suffix: `"}` });
  const key = Buffer.from(prefix + name);
  return { key, createRevision: 2, modRevision, version: 1, value: Buffer.from(value) };
}

function historyOf(client: unknown, layout: EtcdLayout = plainLayout): EtcdHistory {
  const etcd = client as EtcdClient;
  return new EtcdHistory({ client: etcd, layout, compacted: new CompactedMark(etcd), clock: systemClock });
}

test("unreadable objects do not count towards the limit of a page", async () => {
  const kvs = ["a", "bad1", "bad2", "c", "d", "e"].map((name) => kvAt(name, 2));
  const client = {
    repeat: async (_method: unknown, { key, limit }: { readonly key: Uint8Array; readonly limit: number }) => {
      const left = kvs.filter((kv) => Buffer.compare(kv.key, key) >= 0);
      return { header: { revision: 9 }, kvs: left.slice(0, limit), more: left.length > limit };
    },
  };
  const layout: EtcdLayout = {
    ...plainLayout,
    entryOf(key, value, revisions) {
      if (key.includes("bad")) throw new CorruptEntryError(key, "bad");
      return plainLayout.entryOf(key, value, revisions);
    },
  };
  const page = await historyOf(client, layout).scanAt(toRevision(5), prefix, prefix, 3);
  expect(page.map(({ key }) => key.slice(prefix.length))).toEqual(["a", "c", "d"]);
});

test("a read of compacted history is unavailable while the oldest revision cannot be learned", async () => {
  const client = {
    async repeat(method: unknown) {
      throw new EtcdError(method === methods.page ? "compacted" : "interrupted", "no answer");
    },
  };
  const read = historyOf(client).scanAt(toRevision(5), prefix, prefix, 3);
  await expect(read).rejects.toBeInstanceOf(StoreUnavailableError);
});

test("a watch of history that breaks off while events are decoded delivers none twice", async () => {
  const events = [3, 4, 9].map((revision): WatchEvent => {
    return { type: eventType.put, kv: kvAt(`${revision}`, revision), prevKv: null };
  });
  const starts: number[] = [];
  const client = {
    pause: async () => undefined,
    connected: async () => true,
    watch({ startRevision }: WatchCreateRequest, listener: WatchListener): Disposable {
      const isFirst = starts.push(startRevision) === 1;
      const left = events.filter(({ kv }) => (kv.modRevision as number) >= startRevision);
      const sent = isFirst ? left.slice(0, 2) : left;
      const response = { header: { clusterId: 1, memberId: 1, revision: 9 }, created: false, canceled: false };
      queueMicrotask(() => {
        listener.response({ ...response, compactRevision: 0, cancelReason: "", fragment: false, events: sent });
        if (isFirst) listener.ended(new EtcdError("interrupted", "the connection broke"));
      });
      return { [Symbol.dispose]: () => undefined };
    },
  };
  const layout: EtcdLayout = {
    ...plainLayout,
    entryOf: async (key, value, revisions) => {
      await Bun.sleep(1);
      return plainLayout.entryOf(key, value, revisions);
    },
  };
  const found = await historyOf(client, layout).eventsAfter(toRevision(2), until, prefix, 100);
  expect(found.map(({ revision }) => Number(revision))).toEqual([3, 4, 9]);
  expect(starts).toEqual([3, 5]);
});

import { expect, test } from "bun:test";
import type { Key } from "../../api/entry.ts";
import { toRevision } from "../../api/revision.ts";
import { systemClock } from "../../process/clock.ts";
import { AppliedFeed } from "../applied-feed.ts";
import { UndecryptableEntryError } from "../store.ts";
import type { EtcdClient } from "./client/etcd-client.ts";
import type { WatchListener } from "./client/etcd-connection.ts";
import { EtcdError } from "./client/etcd-error.ts";
import { type KeyValue, methods } from "./client/messages.ts";
import { CompactedMark } from "./compacted-mark.ts";
import { EtcdMirror } from "./etcd-mirror.ts";
import type { EtcdLayout } from "./layout/layout.ts";
import { PendingWrites } from "./pending-writes.ts";
import { plainLayout } from "./testing.ts";

const keys: readonly Key[] = ["/registry/pods/default/a", "/registry/pods/default/b"];

function mirrorOf(client: EtcdClient, layout: EtcdLayout, feed: AppliedFeed) {
  return new EtcdMirror({
    client,
    layout,
    feed,
    pending: new PendingWrites(),
    compacted: new CompactedMark(client),
    confirm: async () => toRevision(3),
    onInterrupted: () => undefined,
    onReloaded: () => undefined,
  });
}

test.each([
  "rpc error: code = PermissionDenied desc = etcdserver: permission denied",
  "rpc error: code = InvalidArgument desc = etcdserver: user name is empty",
])("a first watch that etcd denies is reported: %s", async (cancelReason) => {
  const pauses: number[] = [];
  const isEnough = Promise.withResolvers<void>();
  const client = {
    pause: async (ms: number) => {
      if (pauses.push(ms) === 8) {
        mirror[Symbol.dispose]();
        isEnough.resolve();
      }
    },
    watch: (_request: unknown, listener: WatchListener) => {
      const header = { clusterId: 1, memberId: 1, revision: 3 };
      const cancelled = { header, created: true, canceled: true, compactRevision: 0, cancelReason };
      queueMicrotask(() => listener.response({ ...cancelled, fragment: false, events: [] }));
      return { [Symbol.dispose]: () => undefined };
    },
  } as unknown as EtcdClient;
  const mirror = mirrorOf(client, plainLayout, new AppliedFeed(systemClock));
  await expect(mirror.follow()).rejects.toMatchObject({ kind: "denied", message: cancelReason });
  await isEnough.promise;
  expect(pauses).toEqual([50, 100, 200, 400, 800, 1_600, 2_000, 2_000]);
});

test("responses that arrive in one turn are all applied in it", async () => {
  const header = { clusterId: 1, memberId: 1, revision: 3 };
  const response = { header, created: false, canceled: false, compactRevision: 0, cancelReason: "", fragment: false };
  const watched = Promise.withResolvers<WatchListener>();
  const client = {
    watch(_request: unknown, listener: WatchListener) {
      listener.response({ ...response, created: true, events: [] });
      watched.resolve(listener);
      return { [Symbol.dispose]: () => undefined };
    },
  } as unknown as EtcdClient;
  using mirror = mirrorOf(client, plainLayout, new AppliedFeed(systemClock));
  await mirror.follow();
  const listener = await watched.promise;
  for (const modRevision of [4, 5, 6]) {
    const kv = { key: Buffer.from("other"), createRevision: 4, modRevision, version: 1, value: Buffer.alloc(0) };
    listener.response({ ...response, events: [{ type: 0, kv, prevKv: null }] });
  }
  expect(mirror.objects.revision).toBe(toRevision(6));
});

test("recovered objects become visible only with their events, also after a failed attempt", async () => {
  const state = { isOpen: false, isReachable: true };
  const kvs = keys.map((key): KeyValue => {
    const value = JSON.stringify({ index: {}, prefix: `{"v":"`, suffix: `"}` });
    return { key: Buffer.from(key), createRevision: 2, modRevision: 2, version: 1, value: Buffer.from(value) };
  });
  const client = {
    repeat: async (method: unknown, request: { readonly key: string }) => {
      if (method === methods.page) return { header: { revision: 3 }, kvs, more: false };
      if (!state.isReachable && request.key === keys[1]) throw new EtcdError("interrupted", "no answer");
      return { header: { revision: 3 }, kvs: kvs.filter(({ key }) => key.toString() === request.key), more: false };
    },
  } as unknown as EtcdClient;
  const layout: EtcdLayout = {
    ...plainLayout,
    entryOf(key, value, revisions) {
      if (!state.isOpen) throw new UndecryptableEntryError(key, "no key");
      return plainLayout.entryOf(key, value, revisions);
    },
  };
  const feed = new AppliedFeed(systemClock);
  using mirror = mirrorOf(client, layout, feed);
  await mirror.load();
  const published: Key[] = [];
  feed.subscribe((events) => void published.push(...events.map(({ entry }) => entry.key)));
  const shown = () => mirror.objects.scan("/registry/").map(({ key }) => key);
  state.isOpen = true;
  state.isReachable = false;
  await expect(mirror.reopen()).rejects.toThrow("no answer");
  expect(shown()).toEqual(published);
  state.isReachable = true;
  await mirror.reopen();
  expect(shown()).toEqual([...keys]);
  expect(published).toEqual([...keys]);
});

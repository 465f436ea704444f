import { expect, test } from "bun:test";
import type { WatchEvent, WatchResponse } from "./client/messages.ts";
import { revisionOf, WatchBatches } from "./watch-batch.ts";

function response(fragment: boolean, ...revisions: number[]): WatchResponse {
  const events = revisions.map(
    (modRevision): WatchEvent => ({
      type: 0,
      kv: { key: Buffer.from("a"), createRevision: 1, modRevision, version: 1, value: Buffer.alloc(0) },
      prevKv: null,
    }),
  );
  const header = { clusterId: 1, memberId: 1, revision: 9 };
  return { header, created: false, canceled: false, compactRevision: 0, cancelReason: "", fragment, events };
}

test("the events of a revision stay together when etcd splits a response", () => {
  const batches = new WatchBatches();
  const add = (fragment: boolean, ...revisions: number[]) =>
    batches.add(response(fragment, ...revisions)).map(revisionOf);
  expect(add(false, 2, 3)).toEqual([2, 3]);
  expect(add(true, 4, 5, 5)).toEqual([4]);
  expect(add(true, 5)).toEqual([]);
  expect(add(false, 5, 6)).toEqual([5, 5, 5, 5, 6]);
  expect(add(false)).toEqual([]);
});

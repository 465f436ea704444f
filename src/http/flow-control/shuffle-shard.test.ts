import { expect, test } from "bun:test";
import { dealHand, flowHash } from "./shuffle-shard.ts";

test("a flow's hash is the first eight bytes of SHA-256, little-endian", () => {
  // printf 'service-accounts\0alice' | sha256sum | cut -c1-16, bytes reversed
  const digest = new Bun.CryptoHasher("sha256").update("service-accounts\0alice").digest();
  expect(flowHash("service-accounts", "alice")).toBe(Buffer.from(digest).readBigUInt64LE(0));
});

test("a hand has different queues below the number of queues", () => {
  for (let flow = 0; flow < 500; flow++) {
    const hand = dealHand(flowHash("schema", String(flow)), 16, 6);
    expect(new Set(hand).size).toBe(6);
    expect(Math.max(...hand)).toBeLessThan(16);
    expect(Math.min(...hand)).toBeGreaterThanOrEqual(0);
  }
});

test("the hash decides the hand digit by digit", () => {
  expect(dealHand(0n, 8, 3)).toEqual([0, 1, 2]);
  expect(dealHand(7n, 8, 3)).toEqual([7, 0, 1]);
  // 3 + 8 * (2 + 7 * 4): position 3, then position 2 of the other seven, then position 4 of the other six.
  expect(dealHand(BigInt(3 + 8 * (2 + 7 * 4)), 8, 3)).toEqual([3, 2, 6]);
});

test("all queues are in a hand as large as the deck", () => {
  expect(dealHand(123_456_789n, 4, 4).toSorted()).toEqual([0, 1, 2, 3]);
});

import { expect, test } from "bun:test";
import { MemoryStore } from "../../storage/memory-store.ts";
import { NodePortBitmap } from "./node-port-bitmap.ts";

const service = { namespace: "a", name: "b" };
const key = "/registry/ranges/servicenodeports";
const range = { first: 30_000, upper: 30_086, last: 32_767 };

function bitmapOn(store: MemoryStore): NodePortBitmap {
  return new NodePortBitmap({ store, range, randomInt: () => 0 });
}

const recordIn = (store: MemoryStore) => JSON.parse(Buffer.from(store.get(key)?.body ?? []).toString());

test("the bitmap is one large number, of which the first port is the lowest bit", async () => {
  const store = new MemoryStore();
  const ports = bitmapOn(store);
  expect(await ports.take(30_000, service, false)).toBeUndefined();
  expect(recordIn(store)).toMatchObject({ range: "30000-32767", data: Buffer.from([1]).toString("base64") });
  expect(await ports.take(30_009, service, false)).toBeUndefined();
  expect(recordIn(store).data).toBe(Buffer.from([2, 1]).toString("base64"));
  expect([ports.ownerOf(30_009), ports.ownerOf(30_008)]).toEqual(["unknown", undefined]);
  await ports.release(30_009);
  expect(recordIn(store).data).toBe(Buffer.from([1]).toString("base64"));
  await ports.release(30_000);
  expect(recordIn(store).data).toBeUndefined();
});

test("a taken port and one outside the range are refused, and a dry run takes nothing", async () => {
  const store = new MemoryStore();
  const ports = bitmapOn(store);
  expect(await ports.take(30_080, service, true)).toBeUndefined();
  expect(store.get(key)).toBeUndefined();
  await ports.take(30_080, service, false);
  for (const dryRun of [true, false]) {
    expect(await ports.take(30_080, service, dryRun)).toBe("provided port is already allocated");
  }
  expect(await ports.take(1, service, false)).toBe(
    "provided port is not in the valid range. The range of valid ports is 30000-32767",
  );
});

test("servers that take ports at the same time get different ones", async () => {
  const store = new MemoryStore();
  const servers = [bitmapOn(store), bitmapOn(store), bitmapOn(store)];
  const taken = await Promise.all(
    servers.flatMap((server) => Array.from({ length: 20 }, () => server.takeAny(service, new Set()))),
  );
  expect(new Set(taken).size).toBe(60);
});

test("a port without a Service is released at the third round, and one that has a Service again is not", async () => {
  const store = new MemoryStore();
  const ports = bitmapOn(store);
  await ports.take(30_001, service, false);
  await ports.take(30_002, service, false);
  const released: number[] = [];
  let isHeld = false;
  for (let round = 0; round < 3; round++) {
    released.push(await ports.releaseUnheld((port) => port === 30_002 && isHeld));
    isHeld = round === 0;
  }
  expect(released).toEqual([0, 0, 1]);
  expect([ports.ownerOf(30_001), ports.ownerOf(30_002)]).toEqual([undefined, "unknown"]);
});

test("a bitmap of another range is not touched", async () => {
  const store = new MemoryStore();
  await bitmapOn(store).take(30_001, service, false);
  const other = new NodePortBitmap({
    store,
    range: { first: 31_000, upper: 31_016, last: 31_999 },
    randomInt: () => 0,
  });
  await expect(other.take(31_001, service, false)).rejects.toThrow(
    "the provided range 31000-31999 does not match the previous range 30000-32767",
  );
});

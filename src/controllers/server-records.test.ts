import { afterEach, beforeEach, expect, test } from "bun:test";
import { ManualClock } from "../storage/cacher/testing.ts";
import { MemoryStore } from "../storage/memory-store.ts";
import { type Store, StoreUnavailableError } from "../storage/store.ts";
import { ServerRecords } from "./server-records.ts";

let clock: ManualClock;
let store: MemoryStore;
let errors: unknown[];

beforeEach(() => {
  clock = new ManualClock();
  store = new MemoryStore();
  errors = [];
});
afterEach(async () => {
  await store.close();
  expect(errors).toEqual([]);
});

/** @param link fails writes while it is cut */
async function join(id: string, port: number, link: { isCut: boolean } = { isCut: false }): Promise<ServerRecords> {
  const linked = new Proxy(store, {
    get(target, property) {
      if (property === "commit") return commit;
      const value = Reflect.get(target, property, target) as unknown;
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const commit: Store["commit"] = async (command) => {
    if (link.isCut) throw new StoreUnavailableError("no quorum");
    return store.commit(command);
  };
  const onError = (error: unknown) => errors.push(error);
  const records = new ServerRecords({
    id,
    store: linked,
    clock,
    onError,
  });
  await records.join();
  records.announce(port, "192.0.2.1");
  await pass(10, 1);
  return records;
}

async function pass(ms: number, stepMs = 250): Promise<void> {
  for (let passed = 0; passed < ms; passed += stepMs) {
    clock.advance(Math.min(stepMs, ms - passed));
    for (let turn = 0; turn < 4; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

const ports = (records: ServerRecords) => records.all().map(({ port }) => port);

test("a server knows itself and the others from the store", async () => {
  const a = await join("a", 1);
  expect([ports(a), a.isAlone]).toEqual([[1], true]);
  const b = await join("b", 2);
  expect([ports(a), ports(b), a.isAlone, b.isAlone]).toEqual([[1, 2], [1, 2], false, false]);
  expect(a.all()[1]).toEqual({ id: "b", port: 2, address: "192.0.2.1" });
});

test("running servers stay, with one write every ten seconds each", async () => {
  const a = await join("a", 1);
  await join("b", 2);
  const { revision } = store;
  await pass(120_000);
  expect(ports(a)).toEqual([1, 2]);
  expect(store.revision - revision).toBe(24);
});

test("a killed server is gone after fifteen seconds, and not before", async () => {
  const a = await join("a", 1);
  const b = await join("b", 2);
  const told: unknown[] = [];
  using _following = a.follow(() => told.push(ports(a)));
  b[Symbol.dispose]();
  await pass(14_500);
  expect(ports(a)).toEqual([1, 2]);
  await pass(1_000);
  expect(ports(a)).toEqual([1]);
  expect(told).toEqual([[1]]);
});

test("a leaving server has no address, and has a record until it has stopped", async () => {
  const a = await join("a", 1);
  const b = await join("b", 2);
  await b.leave();
  expect([ports(a), a.isAlone]).toEqual([[1, undefined], false]);
  await pass(30_000);
  expect(ports(a)).toEqual([1, undefined]);
});

test("a server that cannot write yet joins as soon as it can", async () => {
  const link = { isCut: true };
  const joining = join("a", 1, link);
  await pass(5_000);
  expect(store.size).toBe(0);
  link.isCut = false;
  await pass(1_500);
  const a = await joining;
  expect([ports(a), a.isAlone]).toEqual([[1], true]);
});

test("a stopped server is gone at once and does not come back", async () => {
  const a = await join("a", 1);
  const b = await join("b", 2);
  await b.withdraw();
  expect(ports(a)).toEqual([1]);
  await pass(60_000);
  expect(ports(a)).toEqual([1]);
});

test("objects stored before a single server joined are settled", async () => {
  const { revision } = store;
  const a = await join("a", 1);
  expect(a.inherited - revision).toBe(1);
  const b = await join("b", 2);
  expect([a.inherited, b.inherited].map(Number)).toEqual([0, 0]);
  await b.withdraw();
  expect(a.inherited - revision).toBe(1);
});

test("a restarted server takes over the record of its id", async () => {
  const first = await join("a", 1);
  first[Symbol.dispose]();
  const second = await join("a", 9);
  expect([ports(second), second.isAlone]).toEqual([[9], true]);
});

test("a server that was considered gone creates its record again", async () => {
  const a = await join("a", 1);
  const link = { isCut: false };
  await join("b", 2, link);
  link.isCut = true;
  await pass(16_000);
  expect(ports(a)).toEqual([1]);
  link.isCut = false;
  await pass(2_000);
  expect(ports(a)).toEqual([1, 2]);
});

test("after a time without any writes no server is considered gone", async () => {
  const link = { isCut: false };
  const a = await join("a", 1, link);
  await join("b", 2, link);
  const told: unknown[] = [];
  using _following = a.follow(() => told.push(ports(a)));
  link.isCut = true;
  await pass(40_000);
  link.isCut = false;
  await pass(60_000);
  expect(ports(a)).toEqual([1, 2]);
  expect(told).toEqual([]);
});

import { expect, test } from "bun:test";
import { ManualClock } from "../../cacher/testing.ts";
import { identity } from "../identity.ts";
import { SeedCache } from "./seed-cache.ts";

function cache(before?: SeedCache) {
  const clock = new ManualClock();
  const counts: number[] = [];
  let news = 0;
  const seeds = new SeedCache({
    clock,
    onNews: () => void news++,
    onCount: (count) => void counts.push(count),
    before,
  });
  return { clock, counts, seeds, news: () => news };
}

const works = async () => identity;
const fails = async () => {
  throw new Error("down");
};
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

test("a seed is asked for once, whoever waits for it", async () => {
  const { seeds, counts, news } = cache();
  let calls = 0;
  const decrypt = async () => {
    calls++;
    return identity;
  };
  const first = seeds.prepare("a", decrypt);
  expect(seeds.prepare("a", decrypt)).toBe(first as Promise<void>);
  expect(seeds.find("a")).toBeUndefined();
  await first;
  expect([seeds.find("a"), seeds.prepare("a", decrypt)]).toEqual([identity, undefined]);
  expect([calls, counts, news()]).toEqual([1, [1], 1]);
});

test("a seed that fails keeps its reason, and is asked for every few seconds without anybody waiting", async () => {
  const { clock, seeds, news } = cache();
  let isDown = true;
  await seeds.prepare("a", () => (isDown ? fails() : works()));
  expect([(seeds.find("a") as Error).message, seeds.prepare("a", works), news()]).toEqual(["down", undefined, 1]);
  clock.advance(3_000);
  await settle();
  expect(news()).toBe(1);
  isDown = false;
  clock.advance(3_000);
  expect(seeds.prepare("a", works)).toBeUndefined();
  await seeds.idle();
  expect([seeds.find("a"), news()]).toEqual([identity, 2]);
  clock.advance(10_000);
  expect(clock.timers).toBe(0);
});

test("16 calls run at a time, and their news is told once", async () => {
  const { seeds, news } = cache();
  let running = 0;
  let most = 0;
  const decrypt = async () => {
    most = Math.max(most, ++running);
    await settle();
    running--;
    return identity;
  };
  for (let at = 0; at < 16; at++) void seeds.prepare(`${at}`, decrypt);
  await seeds.idle();
  expect([most, news()]).toEqual([16, 1]);
  for (let at = 16; at < 100; at++) void seeds.prepare(`${at}`, decrypt);
  await seeds.idle();
  expect([most, running]).toEqual([16, 0]);
});

test("after a reload the seeds stay known and the failures are forgotten", async () => {
  const before = cache();
  before.seeds.add("known", identity);
  await before.seeds.prepare("failed", fails);
  const after = cache(before.seeds);
  before.seeds[Symbol.dispose]();
  expect(before.clock.timers).toBe(0);
  expect([after.seeds.find("known"), after.seeds.find("failed")]).toEqual([identity, undefined]);
  await after.seeds.prepare("failed", works);
  expect(after.seeds.find("failed")).toBe(identity);
});

test("the seeds that were used least recently are forgotten", () => {
  const { seeds } = cache();
  for (let at = 0; at < 10_000; at++) seeds.add(`${at}`, identity);
  seeds.find("0");
  seeds.add("more", identity);
  expect([seeds.find("0"), seeds.find("1"), seeds.find("more")]).toEqual([identity, undefined, identity]);
});

import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toMemberId } from "../core/ids.ts";
import { random } from "../testing/seed.ts";
import type { Owner } from "./identity.ts";
import { baseAt, entries, founders, hardState, logContract } from "./log-contract.ts";
import { createLog, createLogOn, logExists, openLog, openLogOn } from "./open-log.ts";
import { SimulatedDisk } from "./simulated-disk.ts";

const scratch = mkdtempSync(join(tmpdir(), "raft-log-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const owner: Owner = { clusterId: "test", memberId: toMemberId(1) };
const segmentBytes = 1 << 20;
let made = 0;
const newDirectory = () => join(scratch, String(made++));

logContract("FileLog on a file system", () => {
  const directory = newDirectory();
  const open = async () => (await openLog(directory, owner, { segmentBytes })).log;
  return {
    create: async (base) => {
      await createLog(directory, owner, base);
      return open();
    },
    reopen: async (log) => {
      await log.close();
      return open();
    },
  };
});

logContract("FileLog on a simulated disk", () => {
  const disk = new SimulatedDisk({ random });
  const open = async () => (await openLogOn(disk, owner, { segmentBytes })).log;
  return {
    create: async (base) => {
      await createLogOn(disk, owner, base);
      return open();
    },
    reopen: async (log) => {
      await log.close();
      return open();
    },
  };
});

async function newLog(directory = newDirectory()) {
  await createLog(directory, owner, founders);
  return { directory, ...(await openLog(directory, owner, { segmentBytes })) };
}

test("many waiting writes take few syncs", async () => {
  const disk = new SimulatedDisk({ random });
  await createLogOn(disk, owner, founders);
  const { log } = await openLogOn(disk, owner, { segmentBytes: 16 << 20 });
  const before = disk.counts.sync;
  await Promise.all(entries(1, 1000, 1).map((one) => log.append({ entries: [one] })));
  // The first write goes alone, and all others form one group. The next segment is prepared meanwhile.
  expect(disk.counts.sync - before).toBeLessThanOrEqual(4);
  await log.close();
});

test("segments are few after compaction, and reused", async () => {
  const { directory, log } = await newLog();
  for (let from = 1; from <= 10_000; from += 100) {
    await log.append({ hardState: hardState(1, 1, from), entries: entries(from, from + 99, 1, 1000) });
    if (from > 500) await log.compact(baseAt(from - 200, 1));
  }
  await log.close();
  const segments = readdirSync(directory).filter((name) => name.endsWith(".segment"));
  expect(segments.length).toBeLessThanOrEqual(6);
  const again = await openLog(directory, owner, { segmentBytes });
  expect(again.log.recovered.entries.length).toBe(10_000 - 9701);
  expect(segments.some((name) => Number.parseInt(name, 10) > 8)).toBe(true);
  await again.log.close();
});

test("no other user may read the files", async () => {
  const { directory, log } = await newLog();
  await log.append({ entries: entries(1, 3000, 1, 1000) });
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(directory)) expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
  await log.close();
});

test("a log is opened once at a time", async () => {
  const { directory, log } = await newLog();
  await expect(openLog(directory, owner)).rejects.toMatchObject({ code: "inUse" });
  await log.close();
  const again = await openLog(directory, owner);
  await again.log.close();
});

test("only its owner can open a log; others get a clear error", async () => {
  const { directory, log } = await newLog();
  await log.close();
  const wrongCluster = openLog(directory, { ...owner, clusterId: "other" });
  await expect(wrongCluster).rejects.toMatchObject({ code: "foreign" });
  await expect(wrongCluster).rejects.toThrow(/belongs to cluster test, not other/);
  await expect(openLog(directory, { ...owner, memberId: toMemberId(2) })).rejects.toMatchObject({ code: "foreign" });
});

test("a log is created once, and only on demand", async () => {
  const directory = newDirectory();
  await expect(openLog(directory, owner)).rejects.toMatchObject({ code: "missing" });
  expect(logExists(directory)).toBe(false);
  await createLog(directory, owner, founders);
  expect(logExists(directory)).toBe(true);
  await expect(createLog(directory, owner, founders)).rejects.toMatchObject({ code: "exists" });
});

test("a log counts how often it was opened", async () => {
  const { directory, log, starts } = await newLog();
  expect(starts).toBe(1);
  await log.close();
  const again = await openLog(directory, owner);
  expect(again.starts).toBe(2);
  await again.log.close();
});

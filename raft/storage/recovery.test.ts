import { expect, test } from "bun:test";
import { toMemberId } from "../core/ids.ts";
import { random } from "../testing/seed.ts";
import { entries, founders, hardState } from "./log-contract.ts";
import { createLogOn, openLogOn } from "./open-log.ts";
import { encodeRecord, recordBytes } from "./record.ts";
import { encodeSegmentHeader, scanSegment, segmentHeaderBytes, segmentSalt } from "./segment.ts";
import { SimulatedDisk } from "./simulated-disk.ts";

const owner = { clusterId: "test", memberId: toMemberId(1) };
const tuning = { segmentBytes: 1 << 20 };

async function openedLog(disk = new SimulatedDisk({ random })) {
  await createLogOn(disk, owner, founders);
  return { disk, ...(await openLogOn(disk, owner, tuning)) };
}

test("a record left by a torn write does not continue the write that replaced it", () => {
  const salt = segmentSalt("some log", 3);
  const bytes = Buffer.alloc(4096);
  const header = { sequence: 3, chain: 77, write: 4, previousEnd: 900 };
  encodeSegmentHeader(header, salt, bytes);
  const [first, second, other] = entries(1, 3, 1).map((entry) => ({ kind: "entry" as const, entry }));
  if (first === undefined || second === undefined || other === undefined) throw new Error("three entries");
  const place = { segment: 3, salt, write: 5 };
  const next = segmentHeaderBytes + recordBytes(first);
  // The old write 5 was `first` and `second`. Of the new one, only `other` reached the disk, over `first`.
  const chain = encodeRecord(first, { ...place, chain: 77, lastOfWrite: false }, bytes, segmentHeaderBytes);
  encodeRecord(second, { ...place, chain, lastOfWrite: true }, bytes, next);
  expect(scanSegment(bytes, header, salt)).toMatchObject({ write: 5, writeBeyond: undefined });
  encodeRecord(other, { ...place, chain: 77, lastOfWrite: false }, bytes, segmentHeaderBytes);
  const torn = { records: [], write: 4, end: segmentHeaderBytes, writeBeyond: 5 };
  expect(scanSegment(bytes, header, salt)).toMatchObject(torn);
});

test("a segment whose first write was torn after its header is dropped, and the one before it continues", async () => {
  const { disk, log } = await openedLog();
  await log.append({ hardState: hardState(1, 1, 0), entries: entries(1, 100, 1, 9000) });
  const release = disk.hangNext("sync", "0000000002");
  void log.append({ entries: entries(101, 140, 1, 9000) });
  await Bun.sleep(20);
  const crashed = disk.afterKill();
  release();
  const { length } = crashed.contents("0000000002.segment");
  crashed.overwrite("0000000002.segment", segmentHeaderBytes, new Uint8Array(length - segmentHeaderBytes));
  const second = await openLogOn(crashed, owner, tuning);
  expect(second.log.recovered.entries.length).toBe(100);
  await second.log.append({ entries: entries(101, 101, 1) });
  await second.log.close();
  const third = await openLogOn(crashed, owner, tuning);
  expect(third.log.recovered.entries.length).toBe(101);
  await third.log.append({ entries: entries(102, 150, 1, 9000) });
  await third.log.close();
  const { log: found } = await openLogOn(crashed, owner, tuning);
  expect(found.recovered.entries.length).toBe(150);
  await found.close();
});

test("damage is found without an up-to-date witness, except in the newest write", async () => {
  const { disk, log } = await openedLog();
  await log.append({ entries: entries(1, 20, 1, 900) });
  const oldWitness = disk.contents("tail");
  for (let from = 21; from <= 2400; from += 20) await log.append({ entries: entries(from, from + 19, 1, 900) });
  await log.close();
  const writeBytes = 20_000;
  const parts = ["0000000001.segment", "0000000002.segment", "0000000003.segment"].map((name) => ({
    name,
    used: disk.contents(name).findLastIndex((byte) => byte !== 0) + 1,
  }));
  for (let round = 0; round < 60; round++) {
    const { name, used } = parts[round % parts.length] ?? { name: "", used: 0 };
    const limit = round % parts.length === parts.length - 1 ? used - writeBytes : used;
    const copy = disk.afterKill();
    copy.overwrite("tail", 0, oldWitness);
    // The last write of each segment in turn, then any position.
    copy.flip(name, round < 6 && limit === used ? used - 100 : Math.floor(random() * limit));
    await expect(openLogOn(copy, owner, tuning)).rejects.toMatchObject({ code: "damaged" });
  }
});

test("a missing last write of a segment is detected, although the next segment would continue without a gap", async () => {
  const { disk, log } = await openedLog();
  const oldWitness = disk.contents("tail");
  await log.append({ entries: entries(1, 100, 1, 9000) });
  const before = disk.contents("0000000001.segment").findLastIndex((byte) => byte !== 0);
  // Cuts from 50 on. Without it, 51 of the next segment would follow on 50 of the earlier term.
  await log.append({ entries: entries(50, 50, 2) });
  await log.append({ entries: entries(51, 60, 2, 30_000) });
  await log.close();
  expect(disk.contents("0000000002.segment").some((byte) => byte !== 0)).toBe(true);
  disk.overwrite("tail", 0, oldWitness);
  disk.flip("0000000001.segment", before + 20);
  await expect(openLogOn(disk, owner, tuning)).rejects.toMatchObject({ code: "damaged", file: "0000000001.segment" });
});

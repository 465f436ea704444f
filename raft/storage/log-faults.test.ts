import { describe, expect, test } from "bun:test";
import { toMemberId } from "../core/ids.ts";
import type { LogContents, LogWrite } from "./log.ts";
import { baseAt, entries, founders, hardState } from "./log-contract.ts";
import { LogError } from "./log-error.ts";
import { MemoryLog } from "./memory-log.ts";
import { createLogOn, openLogOn } from "./open-log.ts";
import { SimulatedDisk } from "./simulated-disk.ts";

const owner = { clusterId: "test", memberId: toMemberId(1) };
const tuning = { segmentBytes: 1 << 20 };

const firstSeed = Number(Bun.env["SEED"] ?? Date.now() % 1e9);
const rounds = Number(Bun.env["ROUNDS"] ?? 40);

/** Returns Mulberry32: small and the same on every machine. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await Promise.resolve();
};

/** One step in the life of a log: a list of writes. `compactTo` is the base up to which entries are removed. */
type Step = { readonly write: LogWrite } | { readonly compactTo: number };

/** Returns the contents that a log must have after the first `count` steps. */
async function expected(steps: readonly Step[], count: number): Promise<LogContents> {
  const model = MemoryLog.create(founders);
  for (const step of steps.slice(0, count)) {
    if ("write" in step) await model.append(step.write);
    else await model.compact(baseAt(step.compactTo, 1));
  }
  return model.reopen().recovered;
}

/**
 * Returns random steps, all of one term, so that the term of any index is known. Writing an index again cuts the log.
 */
function randomSteps(random: () => number, count: number): Step[] {
  const below = (limit: number) => Math.floor(random() * limit);
  const steps: Step[] = [];
  let base = 0;
  let last = 0;
  while (steps.length < count) {
    const kind = random();
    if (kind < 0.08 && last > base + 5) {
      base += 1 + below(last - base - 3);
      steps.push({ compactTo: base });
    } else if (kind < 0.12) {
      base = last + below(50) + 1;
      last = base;
      steps.push({ write: { snapshot: baseAt(base, 1), hardState: hardState(1, 1, base), entries: [] } });
    } else {
      const from = Math.max(base + 1, last + 1 - (random() < 0.2 ? below(6) : 0));
      last = from + below(12);
      const write = { entries: entries(from, last, 1, 1 + below(9000)) };
      steps.push({ write: random() < 0.3 ? { ...write, hardState: hardState(steps.length, 1, base) } : write });
    }
  }
  return steps;
}

describe("after a crash at any moment", () => {
  test.each(Array.from({ length: rounds }, (_, round) => firstSeed + round))(
    "every acknowledged write is there, and a prefix of the others (SEED=%i ROUNDS=1)",
    async (seed) => {
      const random = seeded(seed);
      const steps = randomSteps(random, 120);
      let disk = new SimulatedDisk({ random });
      await createLogOn(disk, owner, founders);
      let done = 0;
      for (let life = 0; life < 12 && done < steps.length; life++) {
        const { log } = await openLogOn(disk, owner, tuning);
        let acknowledged = done;
        const count = 1 + Math.floor(random() * 20);
        const given = steps.slice(done, done + count).map((step, position) => {
          const promise = "write" in step ? log.append(step.write) : log.compact(baseAt(step.compactTo, 1));
          return promise.then(() => {
            acknowledged = Math.max(acknowledged, done + position + 1);
          });
        });
        await turns(Math.floor(random() * 200));
        if (random() < 0.2) await Promise.all(given);
        const kept = acknowledged;
        disk = random() < 0.5 ? disk.afterKill() : disk.afterPowerCut();
        const found = await openLogOn(disk, owner, tuning);
        const ends = Array.from({ length: count + 1 }, (_, more) => done + more).filter(
          (end) => end >= kept && end <= steps.length,
        );
        const possible = await Promise.all(ends.map((end) => expected(steps, end)));
        const match = possible.findIndex((contents) => Bun.deepEquals(contents, found.log.recovered));
        expect(match).toBeGreaterThanOrEqual(0);
        done = ends[match] ?? done;
        await found.log.close();
      }
    },
  );
});

test("a power cut at any moment of its creation leaves a log that opens, or none that prevents another attempt", async () => {
  const outcomes = { opened: 0, made: 0 };
  for (let moment = 0; moment < 60; moment++) {
    const disk = new SimulatedDisk({ random: seeded(firstSeed + moment) });
    void createLogOn(disk, owner, founders);
    await turns(moment);
    const after = disk.afterPowerCut();
    const isThere = await createLogOn(after, owner, founders).then(
      () => false,
      (error: LogError) => error.code === "exists",
    );
    outcomes[isThere ? "opened" : "made"]++;
    const { log } = await openLogOn(after, owner, tuning);
    expect(log.recovered).toEqual(await expected([], 0));
    await log.append({ entries: entries(1, 3, 1) });
    await log.close();
  }
  expect(outcomes.opened).toBeGreaterThan(0);
  expect(outcomes.made).toBeGreaterThan(0);
});

/** Returns a closed log of 2,600 entries in several segments. */
async function closedLog(seed: number) {
  const disk = new SimulatedDisk({ random: seeded(seed) });
  await createLogOn(disk, owner, founders);
  const { log } = await openLogOn(disk, owner, tuning);
  for (let from = 1; from <= 2600; from += 20) {
    await log.append({ hardState: hardState(1, 1, from), entries: entries(from, from + 19, 1, 900) });
  }
  await log.close();
  return disk;
}

/** Returns the used segments with their used bytes: the part before the zeros at the end. */
function usedParts(disk: SimulatedDisk) {
  return disk
    .list()
    .filter((name) => /^\d+\.segment$/.test(name))
    .map((name) => ({ name, used: disk.contents(name).findLastIndex((byte) => byte !== 0) + 1 }))
    .filter(({ used }) => used > 0);
}

async function openingError(disk: SimulatedDisk): Promise<LogError> {
  try {
    await openLogOn(disk, owner, tuning);
  } catch (error) {
    if (error instanceof LogError) return error;
    throw error;
  }
  throw new Error("the damage was not found");
}

describe("damage to durable data is found at the start, with its location", () => {
  test("a single flipped bit anywhere in the written data", async () => {
    const disk = await closedLog(firstSeed);
    const random = seeded(firstSeed + 1);
    for (let round = 0; round < 2 * rounds; round++) {
      const parts = usedParts(disk);
      const { name, used } = parts[Math.floor(random() * parts.length)] ?? { name: "", used: 0 };
      const copy = disk.afterKill();
      const [position, bit] = [Math.floor(random() * used), Math.floor(random() * 8)];
      copy.flip(name, position, bit);
      const error = await openingError(copy);
      expect(["damaged", "tailLost"]).toContain(error.code);
      expect(error.message).toMatch(/segment at byte \d+: .*; this member must not vote any more/);
      // The reported offset is that of the damaged write: before the flip, and close to it.
      if (error.file === name) expect(error.offset).toBeLessThanOrEqual(position);
    }
  });

  test("a segment that was truncated anywhere", async () => {
    const disk = await closedLog(firstSeed);
    const random = seeded(firstSeed + 2);
    for (let round = 0; round < rounds; round++) {
      const parts = usedParts(disk);
      const { name, used } = parts[Math.floor(random() * parts.length)] ?? { name: "", used: 0 };
      const copy = disk.afterKill();
      copy.truncate(name, Math.floor(random() * used));
      expect(["damaged", "tailLost"]).toContain((await openingError(copy)).code);
    }
  });

  test("a sector of zeros in the middle", async () => {
    const disk = await closedLog(firstSeed);
    const random = seeded(firstSeed + 3);
    for (let round = 0; round < rounds; round++) {
      const parts = usedParts(disk);
      const { name, used } = parts[Math.floor(random() * parts.length)] ?? { name: "", used: 0 };
      const copy = disk.afterKill();
      copy.overwrite(name, Math.floor((random() * (used - 512)) / 512) * 512, new Uint8Array(512));
      expect(["damaged", "tailLost"]).toContain((await openingError(copy)).code);
    }
  });

  test("any missing segment, and all of them", async () => {
    const disk = await closedLog(firstSeed);
    const parts = usedParts(disk);
    expect(parts.length).toBeGreaterThanOrEqual(3);
    for (const { name } of parts) {
      const copy = disk.afterKill();
      copy.remove(name);
      expect(["damaged", "tailLost"]).toContain((await openingError(copy)).code);
    }
    const empty = disk.afterKill();
    for (const name of empty.list().filter((one) => one.endsWith(".segment"))) empty.remove(name);
    expect((await openingError(empty)).code).toBe("tailLost");
  });

  test("the end of the log as it was some writes earlier", async () => {
    const disk = await closedLog(firstSeed);
    const old = disk.contents(usedParts(disk).at(-1)?.name ?? "");
    const { log } = await openLogOn(disk, owner, tuning);
    await log.append({ entries: entries(2601, 2603, 1) });
    await log.close();
    const { name } = usedParts(disk).at(-1) ?? { name: "" };
    disk.overwrite(name, 0, old);
    expect((await openingError(disk)).code).toBe("tailLost");
  });

  test("a segment that the disk cannot read", async () => {
    const disk = await closedLog(firstSeed);
    const name = usedParts(disk)[1]?.name ?? "";
    disk.failReads(name);
    expect(await openingError(disk)).toMatchObject({ code: "damaged", file: name });
  });

  test("two exchanged segments", async () => {
    const disk = await closedLog(firstSeed);
    const [first, second] = usedParts(disk).map(({ name }) => name);
    disk.rename(first ?? "", "aside");
    disk.rename(second ?? "", first ?? "");
    disk.rename("aside", second ?? "");
    expect((await openingError(disk)).code).toBe("damaged");
  });

  test.each(["identity", "tail"])("the file %s, missing or overwritten", async (name) => {
    const disk = await closedLog(firstSeed);
    const copy = disk.afterKill();
    copy.remove(name);
    expect((await openingError(copy)).code).toBe("damaged");
    const other = disk.afterKill();
    other.overwrite(name, 0, new Uint8Array(other.contents(name).length));
    expect((await openingError(other)).code).toBe("damaged");
    await expect(createLogOn(copy, owner, founders)).rejects.toMatchObject({ code: "exists" });
  });

  test("a torn slot of the witness leaves the other one", async () => {
    const disk = await closedLog(firstSeed);
    disk.flip("tail", 4096 + 12);
    const { log } = await openLogOn(disk, owner, tuning);
    expect(log.recovered.entries.length).toBe(2600);
    await log.close();
  });
});

test("bytes inside an entry are never taken for records of the log", async () => {
  const disk = new SimulatedDisk({ random: seeded(firstSeed) });
  await createLogOn(disk, owner, founders);
  const { log } = await openLogOn(disk, owner, tuning);
  const inside = { ...entries(1, 1, 1)[0]!, data: disk.contents("0000000001.segment").slice(0, 4096) };
  await log.append({ entries: [inside] });
  void log.append({ entries: [{ ...inside, index: entries(2, 2, 1)[0]!.index, data: inside.data.slice(512) }] });
  await turns(8);
  const { log: found } = await openLogOn(disk.afterPowerCut(), owner, tuning);
  expect(found.recovered.entries.length).toBeGreaterThanOrEqual(1);
  await found.close();
});

describe("a failed write or sync stops the log for good", () => {
  test.each([
    ["write", "EIO"],
    ["write", "ENOSPC"],
    ["sync", "EIO"],
    ["sync", "ENOSPC"],
  ] as const)(
    "a %s with %s: later writes are not acknowledged, and acknowledged ones are kept",
    async (operation, code) => {
      const disk = new SimulatedDisk({ random: seeded(firstSeed) });
      await createLogOn(disk, owner, founders);
      const { log } = await openLogOn(disk, owner, tuning);
      await log.append({ entries: entries(1, 5, 1) });
      disk.failNext(operation, code, "0000000001");
      const given = [6, 7].map((index) => log.append({ entries: entries(index, index, 1) }));
      for (const outcome of await Promise.allSettled(given)) {
        expect(outcome).toMatchObject({ status: "rejected", reason: { code: "poisoned" } });
        expect(String(outcome.status === "rejected" && outcome.reason)).toContain(code);
      }
      await expect(log.append({ entries: entries(8, 8, 1) })).rejects.toMatchObject({ code: "poisoned" });
      await expect(log.compact(baseAt(2, 1))).rejects.toMatchObject({ code: "poisoned" });
      const after = disk.afterPowerCut();
      const { log: found } = await openLogOn(after, owner, tuning);
      expect(found.recovered.entries.length).toBeOneOf([5, 6]);
      expect(found.recovered.entries.slice(0, 5)).toEqual(entries(1, 5, 1));
      await found.close();
    },
  );

  test("data that a failed sync left in memory only is made durable before more is appended", async () => {
    const disk = new SimulatedDisk({ random: seeded(firstSeed) });
    await createLogOn(disk, owner, founders);
    const { log } = await openLogOn(disk, owner, tuning);
    disk.failNext("sync", "EIO", "0000000001");
    await expect(log.append({ entries: entries(1, 3, 1) })).rejects.toMatchObject({ code: "poisoned" });
    const restarted = disk.afterKill();
    const { log: second } = await openLogOn(restarted, owner, tuning);
    expect(second.recovered.entries).toEqual(entries(1, 3, 1));
    const { log: third } = await openLogOn(restarted.afterPowerCut(), owner, tuning);
    expect(third.recovered.entries).toEqual(entries(1, 3, 1));
    await third.close();
  });

  test("a full disk: the log reports it and keeps the acknowledged writes", async () => {
    const disk = new SimulatedDisk({ random: seeded(firstSeed), capacityBytes: 5 << 20 });
    await createLogOn(disk, owner, founders);
    const { log } = await openLogOn(disk, owner, tuning);
    let acknowledged = 0;
    const fill = async () => {
      for (let from = 1; from < 100_000; from += 50) {
        await log.append({ entries: entries(from, from + 49, 1, 1000) });
        acknowledged = from + 49;
      }
    };
    await expect(fill()).rejects.toThrow(/ENOSPC/);
    expect(acknowledged).toBeGreaterThan(3000);
    const { log: found } = await openLogOn(disk.afterPowerCut(), owner, tuning);
    expect(found.recovered.entries.length).toBeGreaterThanOrEqual(acknowledged);
    await found.close();
  });

  test("a hanging sync acknowledges nothing, and waiting writes continue when it returns", async () => {
    const disk = new SimulatedDisk({ random: seeded(firstSeed) });
    await createLogOn(disk, owner, founders);
    const { log } = await openLogOn(disk, owner, tuning);
    const release = disk.hangNext("sync", "0000000001");
    let count = 0;
    const writes = entries(1, 10, 1).map((one) => log.append({ entries: [one] }).then(() => count++));
    await Bun.sleep(20);
    expect(count).toBe(0);
    release();
    await Promise.all(writes);
    expect(count).toBe(10);
    await log.close();
  });
});

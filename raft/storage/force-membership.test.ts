import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeConfEntry, encodeConfEntry } from "../core/conf-entry.ts";
import { toIndex, toMemberId } from "../core/ids.ts";
import { membershipOf, noMembership } from "../core/membership.ts";
import type { SnapshotMeta } from "../core/snapshot.ts";
import { forceMembership } from "./force-membership.ts";
import type { Owner } from "./identity.ts";
import { baseAt, entries, entry, founders, hardState } from "./log-contract.ts";
import { createLog, foundedBy, openLog } from "./open-log.ts";

const scratch = mkdtempSync(join(tmpdir(), "raft-force-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const owner: Owner = { clusterId: "test", memberId: toMemberId(1) };
const alone = membershipOf([toMemberId(1)]);
let made = 0;

async function newLog(base: SnapshotMeta = founders) {
  const directory = join(scratch, String(made++));
  await createLog(directory, owner, base);
  const open = async () => (await openLog(directory, owner)).log;
  return { open, log: await open() };
}

test("the forced membership is the newest of the log, in a term without votes, and the existing entries stay", async () => {
  const { log, open } = await newLog();
  await log.append({ hardState: hardState(4, 2, 3), entries: entries(1, 7, 4) });
  await log.close();
  const again = await open();
  const following = (_: unknown, index: number) => [Uint8Array.of(index), Uint8Array.of(9)];
  expect(await forceMembership(again, { membership: alone, stateIndex: toIndex(0), following })).toEqual(
    founders.membership,
  );
  await again.close();
  const { recovered } = await open();
  expect(recovered.hardState).toEqual(hardState(5, 0, 3));
  expect(recovered.entries.slice(0, 7)).toEqual(entries(1, 7, 4));
  const [change, ...behind] = recovered.entries.slice(7);
  expect(change).toMatchObject({ index: 8, term: 5, kind: "confChange" });
  expect(decodeConfEntry(change?.data ?? new Uint8Array()).membership).toEqual(alone);
  expect(behind).toEqual([
    { index: 9, term: 5, kind: "normal", data: Uint8Array.of(8) },
    { index: 10, term: 5, kind: "normal", data: Uint8Array.of(9) },
  ] as never);
});

test("the membership before is that of the newest change, committed or not, or of the base", async () => {
  const joint = baseAt(3, 2);
  const { log, open } = await newLog(joint);
  await log.close();
  const compacted = await open();
  expect(await forceMembership(compacted, { membership: alone, stateIndex: toIndex(0) })).toEqual(joint.membership);
  await compacted.close();
  const again = await open();
  expect(await forceMembership(again, { membership: alone, stateIndex: toIndex(0) })).toEqual(alone);
  await again.close();

  const two = membershipOf([1, 2].map(toMemberId));
  const other = await newLog();
  const data = encodeConfEntry({ membership: two, context: new Uint8Array() });
  const change = { ...entry(1, 1), kind: "confChange", data } as const;
  await other.log.append({ hardState: hardState(1, 0, 0), entries: [change, entry(2, 1)] });
  await other.log.close();
  const reopened = await other.open();
  expect(await forceMembership(reopened, { membership: alone, stateIndex: toIndex(0) })).toEqual(two);
  await reopened.close();
});

test("a snapshot that the state machine has restored and the log has not recorded comes first", async () => {
  for (const [stateIndex, at] of [
    [50, 51],
    [2, 3],
  ] as const) {
    const { log, open } = await newLog();
    await log.append({ hardState: hardState(2, 0, 0), entries: entries(1, 2, 2) });
    await log.append({ entries: [], expected: baseAt(50, 2) });
    await log.close();
    const again = await open();
    const before = await forceMembership(again, { membership: alone, stateIndex: toIndex(stateIndex) });
    expect(before).toEqual(stateIndex === 50 ? baseAt(50, 2).membership : founders.membership);
    await again.close();
    const last = await open();
    expect(last.recovered.entries.at(-1)).toMatchObject({ index: at, kind: "confChange" });
    await last.close();
  }
});

test("a member that joined and received nothing yet cannot be a survivor", async () => {
  const { log } = await newLog(foundedBy(noMembership));
  const forced = forceMembership(log, { membership: alone, stateIndex: toIndex(0) });
  await expect(forced).rejects.toThrow(/has not received any state yet/);
  await log.close();
});

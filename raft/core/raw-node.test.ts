import { expect, test } from "bun:test";
import type { Entry } from "./entry.ts";
import type { Index, MemberId, RequestId, Term } from "./ids.ts";
import { noIndex, noMember, noTerm } from "./ids.ts";
import { membershipOf } from "./membership.ts";
import type { InitialState } from "./options.ts";
import { RawNode } from "./raw-node.ts";

const member = (id: number) => id as MemberId;
const data = new Uint8Array(1);

function start(initial: Partial<InitialState> = {}, draw = 0, voters = [1]): RawNode {
  const random = { below: (limit: number) => draw % limit };
  const membership = membershipOf(voters.map(member));
  const hardState = { term: noTerm, vote: noMember, commit: noIndex };
  const base = { index: noIndex, term: noTerm, membership };
  const whole: InitialState = { hardState, base, entries: [], applied: noIndex, ...initial };
  return new RawNode({ id: member(1), electionTicks: 10, heartbeatTicks: 3, random }, whole);
}

/** Completes all work at once. */
function drive(node: RawNode): Entry[] {
  const applied: Entry[] = [];
  while (node.hasReady()) {
    const ready = node.ready();
    node.advance(ready);
    if (ready.write !== undefined) node.persisted(ready.write.mark);
    applied.push(...ready.committed);
    const last = ready.committed.at(-1);
    if (last !== undefined) node.applied(last.index);
  }
  return applied;
}

function entryOf(index: number, term: number): Entry {
  return { index: index as Index, term: term as Term, kind: "normal", data };
}

test.each([0, 4, 9])("a member that draws %d becomes a candidate after ten ticks plus that many", (draw) => {
  const node = start({}, draw, [1, 2, 3]);
  for (let tick = 1; tick < 10 + draw; tick++) node.tick();
  expect(node.softState.role).toBe("follower");
  node.tick();
  expect(node.softState.role).toBe("preCandidate");
});

test("a single member elects itself, commits and applies", () => {
  const node = start();
  node.campaign();
  drive(node);
  expect(node.propose(1 as RequestId, data)).toEqual({ kind: "appended", index: 2, term: 1 } as never);
  expect(drive(node).map(({ index }) => index)).toEqual([2] as never);
  expect(node.status()).toMatchObject({ role: "leader", commit: 2, applied: 2, durable: 2 });
});

test("many proposals go out in one append", () => {
  const node = start({}, 0, [1, 2, 3]);
  node.campaign();
  drive(node);
  const term = 1 as Term;
  const reply = { from: member(2), to: member(1), granted: true, term };
  node.step({ type: "preVoteReply", ...reply });
  drive(node);
  node.step({ type: "voteReply", ...reply });
  drive(node);
  node.step({ type: "appendAccepted", from: member(2), to: member(1), term, index: 1 as Index });
  drive(node);
  for (let id = 1; id <= 64; id++) node.propose(id as RequestId, data);
  const ready = node.ready();
  const appends = ready.messagesNow.filter(({ type, to }) => type === "append" && to === member(2));
  expect(appends.length).toBe(1);
  expect(appends[0]).toMatchObject({ entries: { length: 64 } });
  expect(ready.write?.entries.length).toBe(64);
});

test("a ready is taken once, and no other call may come before that", () => {
  const node = start();
  node.campaign();
  const ready = node.ready();
  expect(() => node.tick()).toThrow("not taken");
  expect(() => node.advance({ ...ready })).toThrow("only the last ready");
  node.advance(ready);
  expect(() => node.advance(ready)).toThrow("only the last ready");
});

test("a message for another member, or from itself, is ignored", () => {
  const node = start({}, 0, [1, 2, 3]);
  const vote = { type: "vote", term: 5 as Term, lastIndex: noIndex, lastTerm: noTerm, transfer: false } as const;
  node.step({ ...vote, from: member(2), to: member(3) });
  node.step({ ...vote, from: member(1), to: member(1) });
  expect(node.softState.term).toBe(noTerm);
});

test("entries that were not handed out cannot be applied, and unapplied entries cannot be removed", () => {
  const node = start();
  node.campaign();
  drive(node);
  expect(() => node.applied(2 as Index)).toThrow("before it was handed out");
  expect(() => node.compact(2 as Index)).toThrow("cannot be forgotten");
  expect(() => node.snapshotMeta(2 as Index)).toThrow("no state");
  node.compact(1 as Index);
  expect(node.status()).toMatchObject({ baseIndex: 1, logBytes: 0 });
});

test("inconsistent storage is rejected at the start", () => {
  const entries = [entryOf(1, 1), entryOf(2, 1)];
  const hardState = { term: 1 as Term, vote: noMember, commit: 2 as Index };
  expect(() => start({ hardState, entries: [] })).toThrow("the log lost it");
  expect(() => start({ hardState, entries, applied: 3 as Index })).toThrow("the log lost it");
  expect(() => start({ hardState, entries: [entryOf(1, 1), entryOf(3, 1)] })).toThrow("gap");
  const base = { index: 5 as Index, term: 1 as Term, membership: membershipOf([member(1)]) };
  expect(() => start({ hardState, base, applied: 4 as Index })).toThrow("before the log's base");
});

test("entries of a torn write may be newer than the term on disk: the member joins that term and gives no vote in it", () => {
  const hardState = { term: 1 as Term, vote: member(2), commit: noIndex };
  const node = start({ hardState, entries: [entryOf(1, 3)] }, 0, [1, 2, 3]);
  expect(node.softState.term).toBe(3 as Term);
  expect(node.ready().write?.hardState).toEqual({ term: 3, vote: 0, commit: 0 } as never);
});

test("when the indexes are used up, proposals and changes are rejected and everything else continues", () => {
  const index = (Number.MAX_SAFE_INTEGER - 100) as Index;
  const base = { index, term: 1 as Term, membership: membershipOf([member(1)]) };
  const node = start({ hardState: { term: 1 as Term, vote: noMember, commit: index }, base, applied: index });
  node.campaign();
  drive(node);
  expect(node.softState.role).toBe("leader");
  expect(node.propose(1 as RequestId, data)).toEqual({ kind: "refused", reason: "logFull" });
  const change = { steps: [{ operation: "addLearner", member: member(2) } as const], context: data };
  expect(node.proposeConfChange(change)).toEqual({ kind: "refused", reason: "logFull" });
  node.readIndex(7 as RequestId);
  expect(node.ready().readStates).toHaveLength(1);
});

test("no election starts when the terms are used up", () => {
  const term = (Number.MAX_SAFE_INTEGER - 1) as Term;
  const node = start({ hardState: { term, vote: noMember, commit: noIndex } });
  for (let tick = 0; tick < 50; tick++) node.tick();
  expect(node.softState).toMatchObject({ role: "follower", term });
});

test("a candidate of the last possible term gives up when it is not elected", () => {
  const term = (Number.MAX_SAFE_INTEGER - 2) as Term;
  const node = start({ hardState: { term, vote: noMember, commit: noIndex } }, 0, [1, 2, 3]);
  node.campaign();
  const last = (term + 1) as Term;
  node.step({ type: "preVoteReply", from: member(2), to: member(1), term: last, granted: true });
  expect(node.softState).toMatchObject({ role: "candidate", term: last });
  for (let tick = 0; tick < 10; tick++) node.tick();
  expect(node.softState).toMatchObject({ role: "follower", term: last });
});

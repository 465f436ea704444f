import { expect, test } from "bun:test";
import type { Entry } from "../../api/entry.ts";
import type { Revision } from "../../api/revision.ts";
import { type OwnWrite, PendingWrites } from "./pending-writes.ts";

const revision = (value: number): Revision => value as Revision;
const entry = { key: "/registry/pods/a" } as Entry;

function write(text: string | undefined): OwnWrite {
  return { etcdKey: "a", value: text === undefined ? undefined : Buffer.from(text), entryAt: () => entry };
}

function change(at: number, text: string) {
  return { revision: revision(at), value: Buffer.from(text), isCreation: false, entry };
}

test("changes are kept for as long as a write of their key is pending", () => {
  const pending = new PendingWrites();
  pending.record("a", change(2, "early"));
  const first = pending.begin(write("one"), revision(2));
  pending.record("a", change(3, "one"));
  pending.record("b", change(4, "other key"));
  const second = pending.begin(write("two"), revision(4));
  pending.record("a", change(5, "two"));
  expect(first.changesAfter(first.since).map(({ revision: at }) => at as number)).toEqual([3, 5]);
  first[Symbol.dispose]();
  expect(second.changeAt(revision(3))).toBeUndefined();
  expect(second.changeAt(revision(5))?.entry).toBe(entry);
  second[Symbol.dispose]();
  expect(pending.begin(write("three"), revision(5)).changesAfter(revision(0))).toEqual([]);
});

test("a put by this server need not be decoded", () => {
  const pending = new PendingWrites();
  using _write = pending.begin(write("one"), revision(1));
  expect(pending.entryOf("a", Buffer.from("one"), revision(2), revision(2))).toBe(entry);
  expect(pending.entryOf("a", Buffer.from("two"), revision(2), revision(2))).toBeUndefined();
  expect(pending.entryOf("b", Buffer.from("one"), revision(2), revision(2))).toBeUndefined();
});

test("equal writes know of each other, and every write of skipped changes", () => {
  const pending = new PendingWrites();
  using one = pending.begin(write("same"), revision(1));
  using other = pending.begin(write("other"), revision(1));
  expect([one.hasTwin, other.hasTwin]).toEqual([false, false]);
  const twin = pending.begin(write("same"), revision(1));
  expect([one.hasTwin, other.hasTwin, twin.hasTwin]).toEqual([true, false, true]);
  twin[Symbol.dispose]();
  // The change that the write finds may be that of its finished twin.
  expect([one.hasTwin, one.hasGap]).toEqual([true, false]);
  pending.skip();
  expect([one.hasGap, other.hasGap]).toEqual([true, true]);
});

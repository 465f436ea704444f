import { expect, test } from "bun:test";
import type { Entry, ObjectOwner } from "../../api/entry.ts";
import type { Revision } from "../../api/revision.ts";
import type { StoreEvent } from "../../storage/store.ts";
import { AffectedObjects } from "./affected-objects.ts";

const at = 1 as Revision;

function entryOf(uid: string, owners?: readonly ObjectOwner[], metadata: object = {}): Entry {
  const body = Buffer.from(JSON.stringify({ metadata: { name: uid, ...metadata } }));
  const index = { apiVersion: "v1", uid, labels: undefined, fields: undefined, owners };
  return { key: `/registry/configmaps/n/${uid}`, revision: at, createRevision: at, index, body };
}

const owner = (uid: string, blockOwnerDeletion = false): ObjectOwner => ({
  uid,
  controller: false,
  blockOwnerDeletion,
});
const deleting = (...finalizers: string[]) => ({ finalizers, deletionTimestamp: "2026-01-01T00:00:00Z" });

function follow() {
  const said: string[] = [];
  const affected = new AffectedObjects({
    object: (key) => said.push(`object ${key.split("/").at(-1)}`),
    gone: (uid) => said.push(`gone ${uid}`),
    awaiting: (uid) => said.push(`awaiting ${uid}`),
    orphaning: (key) => said.push(`orphaning ${key.split("/").at(-1)}`),
  });
  const tell = (type: StoreEvent["type"], entry: Entry, previous?: Entry) => {
    affected.receive({ revision: at, type, entry, previous });
    return said.splice(0);
  };
  return { affected, tell };
}

test("a new object with owners is looked at, one without is not", () => {
  const { tell } = follow();
  expect(tell("ADDED", entryOf("a", [owner("o")]))).toEqual(["object a"]);
  expect(tell("ADDED", entryOf("a"))).toEqual([]);
});

test("only a change of owners is looked at", () => {
  const { tell } = follow();
  const before = entryOf("a", [owner("o")]);
  expect(tell("MODIFIED", entryOf("a", [owner("o")]), before)).toEqual([]);
  expect(tell("MODIFIED", entryOf("a", [owner("o", true)]), before)).toEqual(["object a"]);
  expect(tell("MODIFIED", entryOf("a"), before)).toEqual([]);
});

test("an object that is gone, or replaced by another of its name, concerns its dependents", () => {
  const { tell } = follow();
  expect(tell("DELETED", entryOf("a"), entryOf("a"))).toEqual(["gone a"]);
  expect(tell("MODIFIED", entryOf("b"), entryOf("a"))).toEqual(["gone a"]);
});

test("an owner that waits is told once, and looked at when it loses a dependent", () => {
  const { affected, tell } = follow();
  const waiting = entryOf("o", undefined, deleting("foregroundDeletion"));
  expect(tell("MODIFIED", waiting, entryOf("o"))).toEqual(["object o", "awaiting o"]);
  expect(tell("MODIFIED", waiting, waiting)).toEqual([]);
  expect(affected.awaiting("o")).toBe(waiting.key);
  const dependent = entryOf("a", [owner("o", true)]);
  expect(tell("MODIFIED", entryOf("a", [owner("o")]), dependent)).toEqual(["object a", "object o"]);
  expect(tell("DELETED", dependent, dependent)).toEqual(["gone a", "object o"]);
  expect(tell("DELETED", waiting, waiting)).toEqual(["gone o"]);
  expect(affected.awaiting("o")).toBeUndefined();
});

test("an object that is being deleted asks for orphans with the finalizer only", () => {
  const { tell } = follow();
  expect(tell("MODIFIED", entryOf("a", undefined, deleting("orphan")), entryOf("a"))).toEqual(["orphaning a"]);
  expect(tell("MODIFIED", entryOf("a", undefined, deleting("hold")), entryOf("a"))).toEqual([]);
  expect(tell("MODIFIED", entryOf("a", undefined, { finalizers: ["orphan"] }), entryOf("a"))).toEqual([]);
});

test("a label with the name of the deletion time does not count", () => {
  const { tell } = follow();
  const labels = { deletionTimestamp: "x" };
  expect(tell("ADDED", entryOf("a", undefined, { labels, finalizers: ["orphan"] }))).toEqual([]);
});

import { expect, test } from "bun:test";
import { bodyText, del, put } from "../../../test/contract/store-commands.ts";
import { storeContract } from "../../../test/contract/store-contract.ts";
import type { Entry, Key, ObjectIndex } from "../../api/entry.ts";
import type { Revision } from "../../api/revision.ts";
import { systemClock } from "../../process/clock.ts";
import { MemoryStore } from "../memory-store.ts";
import { uidOf } from "../object-uid.ts";
import { CompactedError, type Store, type StoreEvent, UndecryptableEntryError } from "../store.ts";
import { EncryptedStore } from "./encrypted-store.ts";
import type { ResourceTransformers } from "./resource-transformers.ts";
import { provider, transformersOf } from "./testing.ts";

const identity = { identity: {} };
const old = provider("aescbc", "old", 1);
const young = provider("secretbox", "new", 2);
const a = "/registry/secrets/default/a";
const b = "/registry/secrets/default/b";
const pod = "/registry/pods/default/p";
const first = 0 as Revision;

const resourceOf = (key: Key) => ({ group: "", resource: key.split("/")[2] ?? "" });

function around(store: Store, transformers: ResourceTransformers): EncryptedStore {
  return new EncryptedStore({ store, clock: systemClock, transformers, resourceOf });
}

const secrets = (...providers: object[]) => transformersOf([["secrets"], providers]);
const rawText = (store: Store, key: Key) => Buffer.from(store.get(key)?.body ?? []).toString("latin1");

for (const kind of ["aesgcm", "aescbc"]) {
  const rules = transformersOf([["*.*"], [provider(kind, "k", 3)]]);
  storeContract(`EncryptedStore with ${kind}`, async () => around(new MemoryStore(), rules));
}
storeContract("EncryptedStore without a rule", async () => around(new MemoryStore(), transformersOf()));

test("the inner store sees neither the body nor the index of an encrypted object, and other kinds as they are", async () => {
  const inner = new MemoryStore();
  const store = around(inner, secrets(old));
  const index: ObjectIndex = {
    apiVersion: "v1",
    uid: "uid-marked",
    labels: { l: "label-marked" },
    fields: { type: "field-marked" },
    owners: [{ uid: "owner-marked", controller: true, blockOwnerDeletion: false }],
  };
  const { entry } = (await store.commit(put(a, "marked", { index }))) as { entry: Entry };
  await store.commit(put(pod, "plain"));
  expect(entry.index).toEqual(index);
  expect(store.get(a)).toBe(entry);
  expect(store.scan("/registry/secrets/")).toEqual([entry]);
  expect(store.get(pod)).toBe(inner.get(pod));

  expect(JSON.stringify(inner.get(a)?.index) + rawText(inner, a)).not.toContain("marked");
  expect(rawText(inner, a)).toStartWith("k8s:enc:aescbc:v1:old:");
  await store.commit(del(a, "last-marked"));
  for (const { entry, previous } of await inner.eventsAfter(inner.compactedRevision, { prefix: a, limit: 9 })) {
    for (const state of [entry, previous]) {
      expect(JSON.stringify(state?.index) + Buffer.from(state?.body ?? []).toString("latin1")).not.toContain("marked");
    }
  }
});

test("events and history show plain objects, and a deleted one with its index", async () => {
  const inner = new MemoryStore();
  const store = around(inner, secrets(old));
  const seen: StoreEvent[] = [];
  store.subscribe((events) => void seen.push(...events));
  await store.commit(put(a, "one"));
  await store.commit(put(a, "two"));
  store.useTransformers(secrets(identity, old));
  const { entry } = (await store.commit(del(a, "two"))) as { entry: Entry };
  expect(seen.map(({ type }) => type)).toEqual(["ADDED", "MODIFIED", "DELETED"]);
  expect(seen[1]?.previous).toBe(seen[0]?.entry as Entry);
  expect([entry, seen[2]?.entry as Entry].map(uidOf)).toEqual(["uid", "uid"]);
  const history = await store.eventsAfter(store.compactedRevision, { prefix: a, limit: 9 });
  expect(history.map(({ entry }) => bodyText(entry))).toEqual(seen.map(({ entry }) => bodyText(entry)));
  expect(history[2]?.entry.index).toEqual(seen[2]?.entry.index as ObjectIndex);
  const [then] = await store.scanAt(2 as Revision, { prefix: a });
  expect(bodyText(then)).toBe(bodyText(seen[0]?.entry));
});

test("an entry is stale unless the first provider encrypted it with its first key", async () => {
  const store = around(new MemoryStore(), transformersOf());
  await store.commit(put(a, "x"));
  await store.commit(put(pod, "x"));
  const isStale = (key: Key) => store.isStale(store.get(key) as Entry);
  expect([isStale(a), isStale(pod)]).toEqual([false, false]);
  store.useTransformers(secrets(old, identity));
  expect([isStale(a), isStale(pod)]).toEqual([true, false]);
  await store.commit(put(a, "x"));
  expect(isStale(a)).toBe(false);
  store.useTransformers(secrets(young, old));
  expect(isStale(a)).toBe(true);
  await store.commit(put(a, "x"));
  expect(isStale(a)).toBe(false);
  store.useTransformers(secrets(identity, young));
  expect(isStale(a)).toBe(true);
  store.useTransformers(transformersOf());
  expect(isStale(a)).toBe(true);
});

test("an object that no key opens is named, cannot be changed, and is readable again with the key", async () => {
  const inner = new MemoryStore();
  await around(inner, secrets(old)).commit(put(a, "x"));
  const store = around(inner, secrets(young, identity));
  await store.commit(put(b, "y"));
  expect([store.get(a), store.scan("/registry/").length]).toEqual([undefined, 1]);
  expect(store.corruptAt(a)).toBeInstanceOf(UndecryptableEntryError);
  expect(store.corrupt.map((error) => (error as UndecryptableEntryError).reason)).toEqual(["no matching prefix found"]);
  expect(store.commit(put(a, "z"))).rejects.toThrow("no matching prefix found");

  const seen: [string[], boolean][] = [];
  store.subscribe((events, _revision, jumped) => void seen.push([events.map(({ entry }) => entry.key), jumped]));
  store.useTransformers(secrets(young, old));
  expect(seen).toEqual([[[a], true]]);
  expect([bodyText(store.get(a)).includes('"x"'), store.corrupt]).toEqual([true, []]);
});

test("history that an old key encrypted counts as compacted, and what follows is readable", async () => {
  const inner = new MemoryStore();
  const before = around(inner, secrets(old));
  await before.commit(put(a, "one"));
  const rotated = around(inner, secrets(young, old));
  const { revision } = (await rotated.commit(put(a, "two"))) as { revision: Revision };
  await rotated.commit(put(a, "three"));
  const store = around(inner, secrets(young));
  expect(store.eventsAfter(2 as Revision, { prefix: a, limit: 9 })).rejects.toBeInstanceOf(CompactedError);
  expect(store.scanAt(2 as Revision, { prefix: a })).rejects.toBeInstanceOf(CompactedError);
  const later = await store.eventsAfter(revision, { prefix: a, limit: 9 });
  expect(later.map(({ entry }) => bodyText(entry).includes("three"))).toEqual([true]);
});

test("an unreadable object can be deleted, and watchers see it with the state in the command", async () => {
  const inner = new MemoryStore();
  await around(inner, secrets(old)).commit(put(a, "x"));
  const store = around(inner, secrets(young));
  const seen: string[] = [];
  store.subscribe((events) => void seen.push(...events.map(({ type }) => type)));
  expect((await store.commit(del(a, "gone"))).kind).toBe("applied");
  expect([seen, store.corrupt, inner.get(a)]).toEqual([["ADDED", "DELETED"], [], undefined]);
});

test("a replica that lacks the key of another one drops the object, ends watches once, and recovers", async () => {
  const inner = new MemoryStore();
  const other = around(inner, secrets(young, old));
  const store = around(inner, secrets(old));
  const seen: [string[], boolean][] = [];
  store.subscribe((events, _revision, jumped) => void seen.push([events.map(({ type }) => type), jumped]));
  store.useTransformers(secrets(old));
  await store.commit(put(a, "one"));
  await other.commit(put(a, "two"));
  await other.commit(put(a, "three"));
  expect(store.get(a)).toBeUndefined();
  expect(store.corrupt.length).toBe(1);
  store.useTransformers(secrets(young, old));
  expect(seen).toEqual([
    [["ADDED"], false],
    [[], true],
    [[], false],
    [["ADDED"], true],
  ]);
  expect(bodyText(store.get(a))).toContain("three");
  await other.commit(put(a, "four"));
  expect(seen.at(-1)).toEqual([["MODIFIED"], false]);
});

test("a deletion with a last state that cannot be read shows the state before, with the revision of the deletion", async () => {
  const inner = new MemoryStore();
  const store = around(inner, secrets(old));
  await store.commit(put(a, "x"));
  const seen: StoreEvent[] = [];
  store.subscribe((events) => void seen.push(...events));
  await around(inner, secrets(young, old)).commit(del(a, "x"));
  expect(seen.map(({ type }) => type)).toEqual(["DELETED"]);
  expect(bodyText(seen[0]?.entry)).toBe('{"metadata":{"resourceVersion":"3"},"data":"x"}');
  expect(store.compactedRevision).toBeGreaterThan(first);
});

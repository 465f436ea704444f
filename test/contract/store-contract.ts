import { afterEach, describe, expect, test } from "bun:test";
import type { Entry } from "../../src/api/entry.ts";
import type { Revision } from "../../src/api/revision.ts";
import { CompactedError, type Store, type StoreEvent, StoreUnavailableError } from "../../src/storage/store.ts";
import { bodyText, del, proposal, put } from "./store-commands.ts";

const pods = "/registry/pods/";
const a = `${pods}default/a`;
const b = `${pods}default/b`;
const elsewhere = "/registry/secrets/default/a";
const revision = (value: number): Revision => value as Revision;
const any = { limit: 1_000, prefix: "/registry/" };

export interface StoreTraits {
  /** Whether writes that are sent together are applied in the order in which they were sent. */
  readonly ordersWrites?: boolean;
}

/** Tests the behaviour that every Store shares. `open` returns an empty one. */
export function storeContract(
  name: string,
  open: () => Promise<Store>,
  { ordersWrites = true }: StoreTraits = {},
): void {
  describe(name, () => {
    let opened: Store[] = [];
    const openStore = async (): Promise<Store> => {
      const store = await open();
      opened.push(store);
      return store;
    };
    afterEach(async () => {
      for (const store of opened) await store.close();
      opened = [];
    });

    test("an empty store is at revision 1 and holds nothing", async () => {
      const store = await openStore();
      expect([store.revision, store.compactedRevision, store.size]).toEqual([revision(1), revision(1), 0]);
      expect(store.scan("/registry/")).toEqual([]);
      expect(await store.scanAt(revision(1), { prefix: "/registry/" })).toEqual([]);
      expect(await store.eventsAfter(revision(1), any)).toEqual([]);
      expect(store.corrupt).toEqual([]);
    });

    test("a put fills the gap with the revision and keeps the create revision", async () => {
      const store = await openStore();
      const created = await store.commit(put(a, "one"));
      const updated = await store.commit(put(a, "two"));
      expect(created).toMatchObject({
        kind: "applied",
        revision: 2,
        entry: { createRevision: 2, revision: 2, key: a },
      });
      expect(updated).toMatchObject({ kind: "applied", revision: 3, entry: { createRevision: 2, revision: 3 } });
      expect(bodyText(store.get(a))).toBe(`{"metadata":{"resourceVersion":"3"},"data":"two"}`);
      expect(store.revision).toBe(revision(3));
    });

    test("the body is alone in its buffer", async () => {
      const store = await openStore();
      await store.commit(put(a, "one"));
      const body = store.get(a)?.body as Uint8Array;
      expect(body.buffer.byteLength).toBe(body.byteLength);
    });

    test("a delete answers the last state with the revision of the deletion", async () => {
      const store = await openStore();
      await store.commit(put(a, "one"));
      const deleted = await store.commit(del(a, "one"));
      expect(deleted).toMatchObject({ kind: "applied", revision: 3, entry: { revision: 3, createRevision: 2 } });
      if (deleted.kind === "applied") expect(bodyText(deleted.entry)).toContain(`"resourceVersion":"3"`);
      expect(store.get(a)).toBeUndefined();
      expect(store.size).toBe(0);
    });

    test.each([
      ["absent", "a key that exists", { kind: "absent" }, true],
      ["revision", "another revision", { kind: "revision", revision: revision(9) }, true],
      ["revision", "a key that does not exist", { kind: "revision", revision: revision(2) }, false],
    ] as const)("expect %s rejects %s and shows the conflicting state", async (_, __, expected, exists) => {
      const store = await openStore();
      if (exists) await store.commit(put(a, "one"));
      const before = store.revision;
      expect(await store.commit(put(a, "two", { expect: expected }))).toEqual({
        kind: "rejected",
        current: store.get(a),
      });
      expect(store.revision).toBe(before);
      expect(bodyText(store.get(a))).toBe(exists ? `{"metadata":{"resourceVersion":"2"},"data":"one"}` : "");
    });

    test("deleting an absent key is rejected", async () => {
      const store = await openStore();
      expect(await store.commit(del(a, "one"))).toEqual({ kind: "rejected", current: undefined });
      expect(store.revision).toBe(revision(1));
    });

    test("a command is outdated once an object that it depends on has changed", async () => {
      const store = await openStore();
      await store.commit(put(b, "one"));
      const premises = [store.get(b) as Entry];
      const dependent = { ...put(a, "one"), premises };
      expect(await store.commit(dependent)).toMatchObject({ kind: "applied", revision: 3 });
      await store.commit(put(b, "two"));
      expect(await store.commit(dependent)).toEqual({ kind: "outdated" });
      await store.commit(del(b, "two"));
      expect(await store.commit(dependent)).toEqual({ kind: "outdated" });
      expect([store.revision, store.get(a)?.revision]).toEqual([revision(5), revision(3)]);
    });

    test("of many writes that expect the same revision exactly one is applied", async () => {
      const store = await openStore();
      await store.commit(put(a, "start"));
      const expected = { kind: "revision", revision: revision(2) } as const;
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, at) => store.commit(put(a, `try ${at}`, { expect: expected }))),
      );
      expect(answers.filter(({ kind }) => kind === "applied")).toHaveLength(1);
      for (const answer of answers) if (answer.kind === "rejected") expect(answer.current).toBe(store.get(a));
    });

    test("an acknowledged write is visible, to get, scan, readBarrier and waitFor", async () => {
      const store = await openStore();
      const result = await store.commit(put(a, "one"));
      expect(result.kind === "applied" && store.get(a) === result.entry).toBe(true);
      expect(store.scan(pods)).toEqual([store.get(a) as Entry]);
      expect(await store.readBarrier()).toBe(revision(2));
      expect(await store.waitFor(revision(2), 0)).toBe(true);
    });

    test("waitFor() wakes at its revision, and gives up after its timeout", async () => {
      const store = await openStore();
      const reached = store.waitFor(revision(3), 5_000);
      expect(await store.waitFor(revision(3), 5)).toBe(false);
      await store.commit(put(a, "one"));
      await store.commit(put(a, "two"));
      expect(await reached).toBe(true);
    });

    test("scan() gives the entries below its prefix in key order and is a snapshot", async () => {
      const store = await openStore();
      for (const key of [b, elsewhere, `${pods}default-2/a`, a, "/registry/podsecurity/x"])
        await store.commit(put(key, "x"));
      const before = store.scan(pods);
      expect(before.map(({ key }) => key)).toEqual([`${pods}default-2/a`, a, b]);
      await store.commit(del(a, "x"));
      await store.commit(put(`${pods}default/aa`, "x"));
      expect(before).toHaveLength(3);
      expect(store.scan(pods).map(({ key }) => key)).toEqual([`${pods}default-2/a`, `${pods}default/aa`, b]);
      await store.commit(put(a, "again"));
      expect(store.scan(`${pods}default/`).map(({ key }) => key)).toEqual([a, `${pods}default/aa`, b]);
    });

    test("listeners hear every batch in order, when its state is visible and before the writer is answered", async () => {
      const store = await openStore();
      const heard: StoreEvent[] = [];
      const order: string[] = [];
      const subscription = store.subscribe((events, at) => {
        expect(store.revision).toBe(at);
        expect(events.at(-1)?.revision).toBe(at);
        heard.push(...events);
        order.push("heard");
      });
      await store.commit(put(a, "one")).then(() => order.push("answered"));
      const together: Promise<unknown>[] = [];
      for (const command of [put(b, "one"), put(a, "two"), del(b, "one")]) {
        together.push(store.commit(command));
        if (!ordersWrites) await together.at(-1);
      }
      await Promise.all(together);
      subscription[Symbol.dispose]();
      await store.commit(put(b, "unheard"));
      expect(order.slice(0, 2)).toEqual(["heard", "answered"]);
      expect(heard.map(({ type, revision: at }) => `${type} ${at}`)).toEqual([
        "ADDED 2",
        "ADDED 3",
        "MODIFIED 4",
        "DELETED 5",
      ]);
      expect(heard[2]?.previous).toBe(heard[0]?.entry as Entry);
      expect(heard[0]?.previous).toBeUndefined();
      expect(bodyText(heard[3]?.entry)).toContain(`"resourceVersion":"5"`);
    });

    test("a listener that writes does not disturb the order that others see", async () => {
      const store = await openStore();
      const seen: number[] = [];
      let follow: Promise<unknown> = Promise.resolve();
      store.subscribe((events) => {
        if (events[0]?.entry.key === a) follow = store.commit(put(b, "follows"));
      });
      store.subscribe((events) => void seen.push(...events.map((event) => event.revision)));
      await store.commit(put(a, "one"));
      await follow;
      expect(seen).toEqual([2, 3]);
    });

    test("eventsAfter() returns the listeners' events from any revision, limited by its limit and prefix", async () => {
      const store = await openStore();
      const heard: StoreEvent[] = [];
      store.subscribe((events) => void heard.push(...events));
      for (const step of [put(a, "1"), put(elsewhere, "1"), put(a, "2"), del(a, "2"), put(a, "3"), put(b, "1")])
        await store.commit(step);
      for (let after = 1; after <= 7; after++) {
        const expected = heard.filter(({ revision: at }) => at > after);
        expect(await store.eventsAfter(revision(after), any)).toEqual(expected);
        expect(await store.eventsAfter(revision(after), { prefix: pods, limit: 2 })).toEqual(
          expected.filter(({ entry }) => entry.key.startsWith(pods)).slice(0, 2),
        );
      }
    });

    test("scanAt() shows every past state, from a start key on, bounded by its limit", async () => {
      const store = await openStore();
      const states = new Map<Revision, Entry[]>([[store.revision, []]]);
      for (const step of [
        put(b, "1"),
        put(a, "1"),
        put(elsewhere, "1"),
        put(a, "2"),
        del(b, "1"),
        put(b, "2"),
        del(a, "2"),
      ]) {
        await store.commit(step);
        states.set(store.revision, store.scan("/registry/"));
      }
      for (const [at, expected] of states) {
        expect(await store.scanAt(at, { prefix: "/registry/" })).toEqual(expected);
        const inPods = expected.filter(({ key }) => key.startsWith(pods));
        expect(await store.scanAt(at, { prefix: pods, limit: 1 })).toEqual(inPods.slice(0, 1));
        expect(await store.scanAt(at, { prefix: pods, start: b })).toEqual(inPods.filter(({ key }) => key >= b));
        expect(await store.scanAt(at, { prefix: pods, start: `${a}\0` })).toEqual(inPods.filter(({ key }) => key > a));
      }
    });

    test("compaction at R forbids reads before R and changes none from R on", async () => {
      const store = await openStore();
      for (const step of [put(a, "1"), put(b, "1"), put(a, "2"), del(b, "1"), put(a, "3"), del(a, "3")])
        await store.commit(step);
      const at = revision(5);
      const events = await store.eventsAfter(at, any);
      const state = await store.scanAt(at, { prefix: pods });
      await store.compact(at);
      expect(store.compactedRevision).toBe(at);
      expect(await store.eventsAfter(at, any)).toEqual(events);
      expect(await store.scanAt(at, { prefix: pods })).toEqual(state);
      const tooOld = store.eventsAfter(revision(4), any);
      await expect(tooOld).rejects.toBeInstanceOf(CompactedError);
      await expect(tooOld).rejects.toMatchObject({ oldest: 5 });
      await expect(store.scanAt(revision(4), { prefix: pods })).rejects.toBeInstanceOf(CompactedError);
    });

    test.each([
      ["at the compacted revision itself is refused to older watches, never left out silently", 3],
      ["after the compacted revision reaches a watch opened there, with its previous state", 2],
    ])("a delete %s", async (_, compactedAt) => {
      const store = await openStore();
      await store.commit(put(a, "1"));
      await store.commit(del(a, "1"));
      await store.compact(revision(compactedAt));
      await expect(store.eventsAfter(revision(compactedAt - 1), any)).rejects.toBeInstanceOf(CompactedError);
      const events = await store.eventsAfter(revision(compactedAt), any);
      if (compactedAt === 3) expect(events).toEqual([]);
      else expect(events).toMatchObject([{ type: "DELETED", revision: 3, previous: { revision: 2 } }]);
    });

    test("compaction goes neither back nor beyond the current revision, and no write is lost by it", async () => {
      const store = await openStore();
      await store.commit(put(a, "1"));
      await store.compact(revision(100));
      expect(store.compactedRevision).toBe(revision(2));
      await store.compact(revision(1));
      expect(store.compactedRevision).toBe(revision(2));
      await store.commit(put(a, "2"));
      expect(await store.eventsAfter(revision(2), any)).toMatchObject([
        { type: "MODIFIED", previous: { revision: 2 } },
      ]);
      expect(bodyText(store.get(a))).toContain("2");
    });

    test("labels and fields come back with any key, also __proto__", async () => {
      const store = await openStore();
      const labels = JSON.parse(`{"__proto__":"x","app":"é"}`);
      const fields = { "status.phase": "" };
      await store.commit(put(a, "1", { index: { apiVersion: "v1", uid: "u", labels, fields, owners: undefined } }));
      await store.commit(put(a, "2"));
      const [event] = await store.eventsAfter(revision(1), any);
      expect(Object.entries(event?.entry.index.labels ?? {})).toEqual([
        ["__proto__", "x"],
        ["app", "é"],
      ]);
      expect({ ...event?.entry.index.fields }).toEqual({ "status.phase": "" });
    });

    test("owners come back in their order, with their flags", async () => {
      const store = await openStore();
      const owners = [
        { uid: "b[1]", controller: false, blockOwnerDeletion: true },
        { uid: "a", controller: true, blockOwnerDeletion: false },
      ];
      const index = { apiVersion: "v1", uid: "u", labels: undefined, fields: undefined, owners };
      await store.commit(put(a, "1", { index }));
      await store.commit(del(a, "1"));
      const events = await store.eventsAfter(revision(1), any);
      expect(events.map(({ entry }) => entry.index.owners)).toEqual([owners, owners]);
    });

    test("history is right while writes go on", async () => {
      const store = await openStore();
      await store.commit(put(a, "0"));
      const at = store.revision;
      const writes = Array.from({ length: 200 }, (_, turn) => store.commit(put(turn % 2 === 0 ? a : b, `${turn}`)));
      const reads = Array.from({ length: 10 }, () => store.scanAt(at, { prefix: pods }));
      for (const read of reads)
        expect((await read).map(bodyText)).toEqual([`{"metadata":{"resourceVersion":"2"},"data":"0"}`]);
      await Promise.all(writes);
      const events = await store.eventsAfter(at, any);
      expect(events.map((event) => event.revision as number)).toEqual(
        Array.from({ length: 200 }, (_, index) => index + 3),
      );
    });

    test("more commands than the queue holds are refused with 429, and the others are applied", async () => {
      const store = await openStore();
      const command = proposal(put(a, "x").operation);
      const answers = await Promise.allSettled(Array.from({ length: 20_001 }, () => store.commit(command(a))));
      const refused = answers.filter((answer) => answer.status === "rejected");
      expect(refused.map(({ reason }) => reason.code)).toEqual([429]);
      expect(store.revision).toBe(revision(20_001));
    });

    test("closing finishes accepted writes and refuses later ones", async () => {
      const store = await openStore();
      const accepted = store.commit(put(a, "one"));
      const waiter = store.waitFor(revision(99), 60_000);
      await store.close();
      expect(await accepted).toMatchObject({ kind: "applied" });
      expect(await waiter).toBe(false);
      await expect(store.commit(put(a, "two"))).rejects.toBeInstanceOf(StoreUnavailableError);
      await store.close();
    });
  });
}

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { del, put } from "../../../test/contract/store-commands.ts";
import type { Key, ObjectIndex, ObjectOwner } from "../../api/entry.ts";
import { atOnce } from "../../process/sliced.ts";
import { MemoryStore } from "../memory-store.ts";
import { differences } from "../state-difference.ts";
import { StateMachine } from "../state-machine.ts";
import type { EventListener, Store } from "../store.ts";
import { OwnerIndex } from "./owner-index.ts";

function indexOf(uids: readonly string[]): ObjectIndex {
  const owners = uids.map((uid): ObjectOwner => ({ uid, controller: false, blockOwnerDeletion: false }));
  return { apiVersion: "v1", uid: "u", labels: undefined, fields: undefined, owners: noneAsUndefined(owners) };
}

function noneAsUndefined(owners: readonly ObjectOwner[]): readonly ObjectOwner[] | undefined {
  return owners.length === 0 ? undefined : owners;
}

const write = (store: Store, key: Key, ...uids: string[]) => store.commit(put(key, "1", { index: indexOf(uids) }));

/** Returns the dependents that a scan of all objects finds. */
function scanned(store: Pick<Store, "scan">, uid: string): Key[] {
  const named = store.scan("/").filter(({ index }) => index.owners?.some((owner) => owner.uid === uid));
  return named.map(({ key }) => key).sort();
}

/** Returns an index that is complete. */
function builtIndex(store: ConstructorParameters<typeof OwnerIndex>[0]): OwnerIndex {
  const owners = new OwnerIndex(store);
  atOnce(owners.build());
  return owners;
}

const pod = (name: string | number): Key => `/registry/pods/default/${name}`;

test("an owner's dependents are of any kind, written before the index is built and after it", async () => {
  const store = new MemoryStore();
  await write(store, pod("a"), "owner");
  const owners = builtIndex(store);
  expect(owners.dependentsOf("owner")).toEqual([pod("a")]);
  await write(store, "/registry/apps/replicasets/default/b", "owner", "other");
  expect(owners.dependentsOf("owner").sort()).toEqual(["/registry/apps/replicasets/default/b", pod("a")]);
  expect(owners.dependentsOf("other")).toEqual(["/registry/apps/replicasets/default/b"]);
  expect(owners.dependentsOf("nobody")).toEqual([]);
});

test("an owner is forgotten with its last dependent", async () => {
  const store = new MemoryStore();
  const owners = builtIndex(store);
  await write(store, pod("a"), "one", "one", "two");
  expect(owners.dependentsOf("one")).toEqual([pod("a")]);
  await write(store, pod("a"), "two");
  expect([owners.dependentsOf("one"), owners.size]).toEqual([[], 1]);
  await store.commit(del(pod("a"), "1"));
  expect(owners.size).toBe(0);
});

test("an owner's dependents come and go by the hundred", async () => {
  const store = new MemoryStore();
  const owners = builtIndex(store);
  for (let count = 1; count <= 100; count++) {
    await write(store, pod(count), "owner");
    expect(owners.dependentsOf("owner").length).toBe(count);
  }
  for (let count = 100; count >= 1; count--) {
    await store.commit(del(pod(count), "1"));
    expect(owners.dependentsOf("owner").sort()).toEqual(scanned(store, "owner"));
  }
});

test("an index that is built during the delivery of events does not count them twice", async () => {
  const store = new MemoryStore();
  const owners = new OwnerIndex(store);
  store.subscribe(() => {
    if (!owners.isComplete) atOnce(owners.build());
  });
  await Promise.all([
    write(store, pod("a"), "one"),
    write(store, pod("a"), "two"),
    write(store, pod("b"), "one"),
    store.commit(del(pod("b"), "1")),
  ]);
  expect([owners.dependentsOf("one"), owners.dependentsOf("two"), owners.size]).toEqual([[], [pod("a")], 1]);
});

test("an index that is built in steps hears of the changes meanwhile", async () => {
  const store = new MemoryStore();
  for (const name of ["a", "b", "c"]) await write(store, pod(name), "one");
  const owners = new OwnerIndex(store);
  const steps = owners.build();
  steps.next();
  await write(store, pod("a"), "one");
  await write(store, pod("b"), "two");
  await store.commit(del(pod("c"), "1"));
  await write(store, pod("d"), "one");
  expect(() => owners.dependentsOf("one")).toThrow("not known yet");
  atOnce(steps);
  expect([owners.dependentsOf("one").sort(), owners.dependentsOf("two")]).toEqual([[pod("a"), pod("d")], [pod("b")]]);
});

test("a released index gets no changes, and answers nothing", async () => {
  const store = new MemoryStore();
  const owners = builtIndex(store);
  owners[Symbol.dispose]();
  await write(store, pod("a"), "owner");
  expect(owners.size).toBe(0);
  expect(() => owners.someDependent("owner", () => true)).toThrow("not known yet");
});

const uids = ["u1", "u2", "u3"];
const step = fc.record({
  name: fc.integer({ min: 0, max: 40 }),
  uids: fc.option(fc.array(fc.constantFrom(...uids), { maxLength: 4 }), { nil: undefined, freq: 4 }),
});

describe("after any writes", () => {
  test("the index agrees with a scan", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(step, { maxLength: 12 }), { maxLength: 25 }),
        fc.nat({ max: 10 }),
        async (batches, builtAt) => {
          const store = new MemoryStore();
          const owners = new OwnerIndex(store);
          for (const [at, batch] of batches.entries()) {
            await Promise.all(
              batch.map(({ name, uids: named }) =>
                named === undefined ? store.commit(del(pod(name), "1")) : write(store, pod(name), ...named),
              ),
            );
            if (at < builtAt) continue;
            if (at === builtAt) atOnce(owners.build());
            for (const uid of uids) expect(owners.dependentsOf(uid).sort()).toEqual(scanned(store, uid));
          }
        },
      ),
    );
  });

  test("a state that is taken over as a whole is followed", () => {
    const commands = fc.array(step, { maxLength: 60 });
    fc.assert(
      fc.property(commands, commands, (before, after) => {
        const [from, to] = [stateOf(before), stateOf([...before, ...after])];
        let state = from;
        let tell: EventListener = () => undefined;
        const owners = builtIndex({
          get: (key) => state.get(key),
          scan: (prefix) => state.scan(prefix),
          subscribe(listener) {
            tell = listener;
            return { [Symbol.dispose]: () => undefined };
          },
        });
        state = to;
        tell(differences(from, to), to.revision, true);
        for (const uid of uids) expect(owners.dependentsOf(uid).sort()).toEqual(scanned(to, uid));
      }),
    );
  });
});

function stateOf(steps: readonly { readonly name: number; readonly uids: string[] | undefined }[]): StateMachine {
  const state = new StateMachine();
  const commands = steps.map(({ name, uids: named }) =>
    named === undefined ? del(pod(name), "1") : put(pod(name), "1", { index: indexOf(named) }),
  );
  state.apply(commands);
  return state;
}

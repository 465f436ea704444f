import { afterAll, test } from "bun:test";
import { deepStrictEqual } from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { openAlone } from "../../test/contract/open-alone.ts";
import { bodyText, del, put } from "../../test/contract/store-commands.ts";
import type { Entry, Key } from "../api/entry.ts";
import type { Revision } from "../api/revision.ts";
import { MemoryStore } from "./memory-store.ts";
import { CompactedError, type Expect, type Store, type StoreEvent } from "./store.ts";

const root = mkdtempSync(join(tmpdir(), "store-model-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let directories = 0;

const keys = ["/registry/a/x/1", "/registry/a/x/10", "/registry/a/x-y/1", "/registry/b/1"];
const prefixes = ["/registry/", "/registry/a/", "/registry/a/x/", "/registry/b/", "/registry/c/"];

interface Write {
  readonly kind: "write";
  readonly key: Key;
  readonly remove: boolean;
  readonly expect: "any" | "absent" | "current" | "stale";
}
type Step =
  | Write
  | { readonly kind: "together"; readonly writes: readonly Write[] }
  | { readonly kind: "compact"; readonly back: number }
  | { readonly kind: "reopen" };

const write: fc.Arbitrary<Write> = fc.record({
  kind: fc.constant("write" as const),
  key: fc.constantFrom(...keys),
  remove: fc.boolean(),
  expect: fc.constantFrom("any" as const, "absent" as const, "current" as const, "stale" as const),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: write },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("together" as const), writes: fc.array(write, { maxLength: 5 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("compact" as const), back: fc.nat(6) }) },
  { weight: 1, arbitrary: fc.constant({ kind: "reopen" as const }) },
);

interface Version {
  readonly created: number;
  readonly revision: number;
  readonly text: string;
}

/** The simplest possible store, without regard for speed: every past state, complete. */
class Model {
  readonly states: Map<Key, Version>[] = [new Map(), new Map()];
  readonly events: { revision: number; type: string; key: Key; previous: number | undefined }[] = [];
  compacted = 1;

  get revision(): number {
    return this.states.length - 1;
  }

  get current(): Map<Key, Version> {
    return this.states[this.revision] as Map<Key, Version>;
  }

  /** Returns the revision of the write, or undefined when it is rejected. */
  write(key: Key, remove: boolean, expected: Expect, data: string): number | undefined {
    const before = this.current.get(key);
    if (expected.kind === "absent" && before !== undefined) return undefined;
    if (expected.kind === "revision" && before?.revision !== expected.revision) return undefined;
    if (remove && before === undefined) return undefined;
    const revision = this.revision + 1;
    const state = new Map(this.current);
    if (remove) state.delete(key);
    else state.set(key, { created: before?.created ?? revision, revision, text: textAt(revision, data) });
    this.states.push(state);
    const type = remove ? "DELETED" : before === undefined ? "ADDED" : "MODIFIED";
    this.events.push({ revision, type, key, previous: before?.revision });
    return revision;
  }
}

function textAt(revision: number, data: string): string {
  return `{"metadata":{"resourceVersion":"${revision}"},"data":"${data}"}`;
}

function shown(state: ReadonlyMap<Key, Version>, prefix: Key, start: Key): unknown[] {
  return [...state]
    .filter(([key]) => key.startsWith(prefix) && key >= start)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, version]) => ({ key, ...version }));
}

function seen(entries: readonly Entry[]): unknown[] {
  return entries.map((entry) => ({
    key: entry.key,
    created: entry.createRevision as number,
    revision: entry.revision as number,
    text: bodyText(entry),
  }));
}

async function checkHistory(store: Store, model: Model): Promise<void> {
  for (let at = model.compacted; at <= model.revision; at++) {
    for (const prefix of prefixes) {
      const state = model.states[at] as Map<Key, Version>;
      const start = keys[at % keys.length] as Key;
      deepStrictEqual(seen(await store.scanAt(at as Revision, { prefix })), shown(state, prefix, prefix));
      deepStrictEqual(
        seen(await store.scanAt(at as Revision, { prefix, start, limit: 2 })),
        shown(state, prefix, start).slice(0, 2),
      );
      const events = await store.eventsAfter(at as Revision, { prefix, limit: 50 });
      const expected = model.events.filter(({ revision, key }) => revision > at && key.startsWith(prefix));
      deepStrictEqual(events.map(eventSeen), expected.slice(0, 50));
    }
  }
  const tooOld = await store
    .eventsAfter((model.compacted - 1) as Revision, { prefix: "", limit: 1 })
    .catch((error) => error);
  deepStrictEqual(tooOld instanceof CompactedError && (tooOld.oldest as number), model.compacted);
}

function eventSeen({ revision, type, entry, previous }: StoreEvent): unknown {
  return { revision: revision as number, type, key: entry.key, previous: previous?.revision as number | undefined };
}

interface Case {
  readonly open: () => Promise<Store>;
  readonly reopen: (store: Store) => Promise<Store>;
}

const memory: Case = { open: async () => new MemoryStore(), reopen: async (store) => store };
const replicated = (): Case => {
  const directory = join(root, `${++directories}`);
  const open = (): Promise<Store> => openAlone({ directory });
  return {
    open,
    async reopen(store) {
      await store.close();
      return open();
    },
  };
};

test.each([
  ["MemoryStore", () => memory, 100],
  ["ReplicatedStore", replicated, 25],
] as const)("%s behaves like the model under any sequence of operations", async (_, newCase, numRuns) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const { open, reopen } = newCase();
      const model = new Model();
      let store = await open();
      try {
        for (const [turn, now] of steps.entries()) {
          if (now.kind === "reopen") store = await reopen(store);
          else if (now.kind === "compact") await compact(store, model, now.back);
          else await writeAll(store, model, now.kind === "write" ? [now] : now.writes, turn);
          deepStrictEqual(store.revision as number, model.revision);
          deepStrictEqual(store.size, model.current.size);
          for (const prefix of prefixes)
            deepStrictEqual(seen(store.scan(prefix)), shown(model.current, prefix, prefix));
        }
        await checkHistory(store, model);
      } finally {
        await store.close();
      }
    }),
    { numRuns },
  );
});

async function compact(store: Store, model: Model, back: number): Promise<void> {
  const target = Math.max(0, model.revision - back);
  model.compacted = Math.max(model.compacted, target);
  await store.compact(target as Revision);
}

/** Starts all writes at once. They are decided in the order in which they are proposed. */
async function writeAll(store: Store, model: Model, writes: readonly Write[], turn: number): Promise<void> {
  const answers = writes.map(async ({ key, remove, expect: wanted }, at) => {
    const expected = expectOf(wanted, model.current.get(key));
    const data = `${turn}-${at}`;
    const applied = model.write(key, remove, expected, data);
    const answer = await store.commit(remove ? del(key, data, expected) : put(key, data, { expect: expected }));
    deepStrictEqual(answer.kind === "applied" ? (answer.revision as number) : undefined, applied);
    if (answer.kind === "applied") deepStrictEqual(bodyText(answer.entry), textAt(answer.revision, data));
  });
  await Promise.all(answers);
}

function expectOf(wanted: Write["expect"], current: Version | undefined): Expect {
  switch (wanted) {
    case "any":
    case "absent":
      return { kind: wanted };
    case "current":
      return { kind: "revision", revision: (current?.revision ?? 1) as Revision };
    case "stale":
      return { kind: "revision", revision: ((current?.revision ?? 1) - 1) as Revision };
  }
}

import { afterAll, afterEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Log, openLog } from "../../../raft/index.ts";
import { openAlone } from "../../../test/contract/open-alone.ts";
import { bodyText, del, put } from "../../../test/contract/store-commands.ts";
import { storeContract } from "../../../test/contract/store-contract.ts";
import { until } from "../../../test/until.ts";
import type { Entry } from "../../api/entry.ts";
import type { Revision } from "../../api/revision.ts";
import { DataDirectoryError } from "../mvcc/data-directory-error.ts";
import { type Database, openDatabase } from "../mvcc/database.ts";
import { currentKey, eventKey, metaKey, versionKey } from "../mvcc/layout.ts";
import { CorruptEntryError, StoreUnavailableError } from "../store.ts";
import { openReplica } from "./open-replica.ts";
import type { ReplicatedStore } from "./replicated-store.ts";

const root = mkdtempSync(join(tmpdir(), "replicated-store-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let directories = 0;
const newDirectory = (): string => join(root, `${++directories}`);

const revision = (value: number): Revision => value as Revision;
const a = "/registry/pods/default/a";
const b = "/registry/pods/default/b";
const all = { prefix: "/registry/", limit: 100 };

storeContract("ReplicatedStore", () => openAlone({ directory: newDirectory() }));

let closing: ReplicatedStore[] = [];
afterEach(async () => {
  for (const store of closing) {
    await store.close();
    expect(store.openSnapshots).toBe(0);
  }
  closing = [];
});
async function open(directory: string, openWith = openDatabase): Promise<ReplicatedStore> {
  const store = await openAlone({ directory, open: openWith });
  closing.push(store);
  return store;
}

/** Changes the database without the store's knowledge. */
async function tamper(directory: string, change: (database: Database) => Promise<unknown>): Promise<void> {
  const database = await openDatabase(join(directory, "state"), { createIfMissing: false });
  await change(database);
  await database.close();
}

async function flipBit(database: Database, key: string): Promise<void> {
  const value = (await database.get(key)) as Buffer;
  value[value.length - 3] = (value[value.length - 3] as number) ^ 4;
  await database.put(key, value);
}

describe("a reopened store", () => {
  test("has every acknowledged write, its history and its compacted revision", async () => {
    const directory = newDirectory();
    const first = await open(directory);
    for (const step of [put(a, "1"), put(b, "1"), put(a, "2"), del(b, "1")]) await first.commit(step);
    await first.compact(revision(3));
    const entries = first.scan("/registry/");
    const events = await first.eventsAfter(revision(3), all);
    const state = await first.scanAt(revision(3), all);
    await first.close();
    const second = await open(directory);
    expect([second.revision, second.compactedRevision, second.size]).toEqual([revision(5), revision(3), 1]);
    expect(second.scan("/registry/")).toEqual(entries);
    expect(await second.eventsAfter(revision(3), all)).toEqual(events);
    expect(await second.scanAt(revision(3), all)).toEqual(state);
    expect(await second.commit(put(b, "again"))).toMatchObject({ revision: 6, entry: { createRevision: 6 } });
  });

  test("does not keep the entries that it has replaced since its start", async () => {
    const directory = newDirectory();
    const keys = Array.from({ length: 100 }, (_, at) => `/registry/pods/default/p${at}`);
    const first = await open(directory);
    await Promise.all(keys.map((key) => first.commit(put(key, "1"))));
    await first.close();
    const second = await open(directory);
    const read = keys.map((key) => new WeakRef(second.get(key) as Entry));
    await Promise.all(keys.map((key) => second.commit(put(key, "2"))));
    await second.compact(second.revision);
    const kept = () => read.filter((entry) => entry.deref() !== undefined).length;
    await until(() => {
      Bun.gc(true);
      return kept() < keys.length / 2;
    });
  });

  test("finishes a compaction that was cut short after its mark", async () => {
    const directory = newDirectory();
    let writes = 0;
    const first = await open(directory, async (path, options) => {
      const database = await openDatabase(path, options);
      return new Proxy(database, {
        get(target, name) {
          if (name === "batch" && ++writes > 5) return () => Promise.reject(new Error("power cut"));
          const value = Reflect.get(target, name, target);
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
    });
    // Identity, three writes and the mark are written; the removal is not.
    for (const step of [put(a, "1"), put(a, "2"), put(a, "3")]) await first.commit(step);
    await first.compact(revision(4));
    expect(first.compactedRevision).toBe(revision(4));
    await first.close();
    const second = await open(directory);
    expect(second.compactedRevision).toBe(revision(4));
    await second.compact(revision(4));
    await second.close();
    await tamper(directory, async (database) => {
      expect(await database.keys({ gte: "e", lt: "f" }).all()).toEqual([]);
      expect(await database.keys({ gte: "v", lt: "w" }).all()).toEqual([]);
    });
  });

  test("keeps on disk exactly the versions that can still be read after compaction", async () => {
    const directory = newDirectory();
    const store = await open(directory);
    for (const step of [put(a, "1"), put(a, "2"), del(a, "2"), put(b, "1"), put(b, "2"), put(b, "3")])
      await store.commit(step);
    await store.compact(revision(6));
    await store.close();
    await tamper(directory, async (database) => {
      expect(await database.keys({ lt: "m" }).all()).toEqual([currentKey(b), eventKey(revision(7))]);
      expect(await database.keys({ gte: "v" }).all()).toEqual([versionKey(b, revision(6))]);
    });
  });

  test("compacts more events than one slice holds while writes continue", async () => {
    const store = await open(newDirectory());
    const writes = Array.from({ length: 1_200 }, (_, at) => store.commit(put(at % 2 === 0 ? a : b, `${at}`)));
    await Promise.all(writes);
    const compaction = store.compact(revision(1_101));
    const during = store.commit(put(a, "during"));
    await Promise.all([compaction, during]);
    expect(await store.eventsAfter(revision(1_101), { ...all, limit: 1_000 })).toHaveLength(101);
    expect(await store.scanAt(revision(1_101), all)).toHaveLength(2);
  });
});

describe("a record that was changed on disk", () => {
  async function damaged(key: string): Promise<ReplicatedStore> {
    const directory = newDirectory();
    const store = await open(directory);
    for (const step of [put(a, "1"), put(a, "2"), put(b, "1")]) await store.commit(step);
    await store.close();
    await tamper(directory, (database) => flipBit(database, key));
    return open(directory);
  }

  test("is reported at open and hides no other object", async () => {
    const store = await damaged(currentKey(a));
    expect(store.corrupt.map(({ key }) => key)).toEqual([a]);
    expect(store.corrupt[0]).toBeInstanceOf(CorruptEntryError);
    expect(store.scan("/registry/").map(({ key }) => key)).toEqual([b]);
  });

  test("is not overwritten, only deleted", async () => {
    const store = await damaged(currentKey(a));
    await expect(store.commit(put(a, "new", { expect: { kind: "absent" } }))).rejects.toBeInstanceOf(CorruptEntryError);
    expect(await store.commit(del(a, "gone"))).toMatchObject({ kind: "applied", revision: 6 });
    expect(store.corrupt).toEqual([]);
    expect(await store.commit(put(a, "new"))).toMatchObject({ kind: "applied", revision: 7 });
  });

  test.each([
    ["an event", eventKey(revision(3)), "event 3"],
    ["a version", versionKey(a, revision(2)), a],
  ])("makes history with %s fail by name", async (_, key, named) => {
    const store = await damaged(key);
    expect(store.corrupt).toEqual([]);
    await expect(store.eventsAfter(revision(1), all)).rejects.toMatchObject({ name: "CorruptEntryError", key: named });
    expect(await store.eventsAfter(revision(3), all)).toHaveLength(1);
  });

  test("is found under another key", async () => {
    const directory = newDirectory();
    const store = await open(directory);
    for (const step of [put(a, "1"), put(b, "1")]) await store.commit(step);
    await store.close();
    await tamper(directory, async (database) =>
      database.put(currentKey(a), (await database.get(currentKey(b))) as Buffer),
    );
    expect((await open(directory)).corrupt.map(({ key }) => key)).toEqual([a]);
  });

  test("is found when an event is missing", async () => {
    const directory = newDirectory();
    const store = await open(directory);
    for (const step of [put(a, "1"), put(b, "1"), put(a, "2")]) await store.commit(step);
    await store.close();
    await tamper(directory, (database) => database.del(eventKey(revision(3))));
    await expect((await open(directory)).eventsAfter(revision(1), all)).rejects.toMatchObject({ key: "event 3" });
  });
});

describe("a failing disk", () => {
  test("under the log stops the store: later writes are not acknowledged, and the failed write is unknown", async () => {
    let failing = false;
    const opened = await openReplica({
      directory: newDirectory(),
      async openLog(...given) {
        const { log, starts } = await openLog(...given);
        const append: Log["append"] = (write) =>
          failing ? Promise.reject(new Error("no space left on device")) : log.append(write);
        const faulty: Log = {
          recovered: log.recovered,
          append,
          compact: (base) => log.compact(base),
          close: () => log.close(),
        };
        return { log: faulty, starts };
      },
    });
    const { store } = opened;
    closing.push(store);
    await store.commit(put(a, "1"));
    const heard: number[] = [];
    store.subscribe((_, at) => void heard.push(at));
    failing = true;
    const met = store.commit(put(a, "2"));
    await expect(met).rejects.toMatchObject({ name: "StoreUnavailableError", outcome: "unknown" });
    await expect(met).rejects.toThrow(/no space left on device/);
    failing = false;
    await expect(store.commit(put(a, "3"))).rejects.toBeInstanceOf(StoreUnavailableError);
    await expect(store.compact(revision(2))).rejects.toBeInstanceOf(StoreUnavailableError);
    expect(() => store.readBarrier()).toThrow(StoreUnavailableError);
    expect(store.failure).toBeInstanceOf(StoreUnavailableError);
    expect([store.revision, bodyText(store.get(a)), heard]).toEqual([revision(2), expect.stringContaining('"1"'), []]);
  });

  test("under the database stops the store too, and the log has the acknowledged writes", async () => {
    const directory = newDirectory();
    let failing = false;
    const store = await open(directory, async (path, options) => {
      const database = await openDatabase(path, options);
      return new Proxy(database, {
        get(target, name) {
          if (name === "batch" && failing) return () => Promise.reject(new Error("no space left on device"));
          const value = Reflect.get(target, name, target);
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
    });
    failing = true;
    await store.commit(put(a, "1"));
    await expect(store.compact(revision(2))).rejects.toThrow(/no space left on device/);
    expect(store.failure?.message).toMatch(/no space left on device/);
    await expect(store.commit(put(a, "2"))).rejects.toBeInstanceOf(StoreUnavailableError);
    await store.close();
    expect(bodyText((await open(directory)).get(a))).toContain('"1"');
  });
});

describe("the data directory", () => {
  async function closedStore(): Promise<string> {
    const directory = newDirectory();
    const store = await open(directory);
    await store.commit(put(a, "1"));
    await store.close();
    return directory;
  }
  const identityOf = (directory: string): string => join(directory, "identity.json");
  const setIdentity = (directory: string, change: object): void => {
    const identity = JSON.parse(readFileSync(identityOf(directory), "utf8"));
    writeFileSync(identityOf(directory), JSON.stringify({ ...identity, ...change }));
  };

  test.each([
    [
      "whose identity was cut short",
      (path: string) => writeFileSync(identityOf(path), `{"form`),
      /identity.json is damaged/,
    ],
    [
      "whose identity is missing",
      (path: string) => rmSync(identityOf(path)),
      /has no identity.json but holds (state|log)/,
    ],
    [
      "of a newer format",
      (path: string) => setIdentity(path, { format: 4, id: 7 }),
      /newer than 3.*use a newer version/,
    ],
    [
      "with the database of another",
      (path: string) => setIdentity(path, { id: "other" }),
      /belongs to another data directory/,
    ],
    ["without CURRENT", (path: string) => rmSync(join(path, "state/CURRENT")), /cannot be opened/],
    ["without its database", (path: string) => rmSync(join(path, "state"), { recursive: true }), /cannot be opened/],
    [
      "that others can read (attack 71)",
      (path: string) => chmodSync(path, 0o750),
      /open to others \(mode 750\); run: chmod 700/,
    ],
    ["whose identity others can read", (path: string) => chmodSync(identityOf(path), 0o644), /run: chmod 600/],
    [
      "held by a running process",
      (path: string) => writeFileSync(join(path, "guard"), guardOf(process.ppid)),
      /process \d+ is using it/,
    ],
  ])("%s is rejected in one line that gives the remedy", async (_, change, message) => {
    const directory = await closedStore();
    change(directory);
    const failed = open(directory);
    await expect(failed).rejects.toBeInstanceOf(DataDirectoryError);
    await expect(failed).rejects.toThrow(message);
    const line = await failed.then(
      () => "",
      (error: Error) => error.message,
    );
    expect(line).not.toContain("\n");
    expect(line).toContain("; ");
  });

  test("is rejected when an object is gone from the database", async () => {
    const directory = await closedStore();
    await tamper(directory, (database) => database.del(currentKey(a)));
    await expect(open(directory)).rejects.toThrow(/should hold 1 objects and holds 0/);
  });

  test.each(["state", "identity"])("is rejected when the %s record is damaged", async (name) => {
    const directory = await closedStore();
    await tamper(directory, (database) => flipBit(database, metaKey(name)));
    await expect(open(directory)).rejects.toThrow(DataDirectoryError);
  });

  test("is opened once at a time, and again after it was closed", async () => {
    const directory = newDirectory();
    const store = await open(directory);
    await expect(open(directory)).rejects.toThrow(/is using it/);
    await store.commit(put(a, "still works"));
    await store.close();
    expect((await open(directory)).size).toBe(1);
  });

  test.each([
    ["a dead process", JSON.stringify({ pid: 2 ** 22 + 1, started: "1" })],
    ["an earlier process with a pid that is in use again", JSON.stringify({ pid: process.ppid, started: "1" })],
    ["an earlier process with our own pid", JSON.stringify({ pid: process.pid, started: "1" })],
    ["a crash while it was written", ""],
  ])("takes over a guard left by %s", async (_, text) => {
    const directory = await closedStore();
    writeFileSync(join(directory, "guard"), text, { mode: 0o600 });
    const store = await open(directory);
    expect(store.size).toBe(1);
    await store.close();
    expect(existsSync(join(directory, "guard"))).toBe(false);
    expect(readdirSync(directory).toSorted()).toEqual(["identity.json", "log", "state"]);
  });

  test("resumes a first opening that a crash cut short", async () => {
    const directory = await closedStore();
    setIdentity(directory, { state: "new" });
    expect((await open(directory)).size).toBe(1);
  });

  test("is created for its owner alone, and an empty one is made so", async () => {
    const directory = newDirectory();
    mkdirSync(directory, { mode: 0o755 });
    await open(directory);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(statSync(identityOf(directory)).mode & 0o777).toBe(0o600);
  });

  test("rejects one with other content", async () => {
    const directory = newDirectory();
    mkdirSync(directory, { mode: 0o700 });
    writeFileSync(join(directory, "notes.txt"), "mine");
    await expect(open(directory)).rejects.toThrow(/holds notes.txt; choose an empty directory/);
    expect(readdirSync(directory)).toEqual(["notes.txt"]);
  });
});

/** Returns the guard that a running process would have written. */
function guardOf(pid: number): string {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  return JSON.stringify({ pid, started: text.slice(text.lastIndexOf(")") + 2).split(" ")[19] });
}

import { afterAll, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openAlone } from "../../../test/contract/open-alone.ts";
import type { ObjectIndex, ObjectOwner } from "../../api/entry.ts";
import type { ReplicatedStore } from "./replicated-store.ts";

const root = mkdtempSync(join(tmpdir(), "former-format-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/**
 * The data directory of a program of format 2: five ReplicaSets in its database, one of them updated once, and two more
 * only in its log. No index in it names an owner.
 */
const archive = join(import.meta.dir, "../../../test/fixtures/data-directory-format-2.tar.gz");

async function unpack(): Promise<string> {
  const directory = mkdtempSync(join(root, "data-"));
  await new Bun.Archive(readFileSync(archive)).extract(directory);
  // Archives lose the modes of files.
  chmodSync(directory, 0o700);
  for (const file of ["identity.json", "log/identity"]) chmodSync(join(directory, file), 0o600);
  return directory;
}

const keyOf = (name: string): string => `/registry/replicasets/default/${name}`;
const owner = (uid: string, controller = false, blockOwnerDeletion = false): ObjectOwner => ({
  uid,
  controller,
  blockOwnerDeletion,
});

function ownersByName(store: ReplicatedStore): Record<string, ObjectIndex["owners"]> {
  return Object.fromEntries(
    store.scan("/registry/").map(({ key, index }) => [key.slice(keyOf("").length), index.owners]),
  );
}

const expected = {
  free: undefined,
  "free-in-log": undefined,
  "in-log": [owner("uid-web", true, true)],
  owned: [owner("uid-web", true, true)],
  shared: [owner("uid-web"), owner("uid-api", false, true)],
  updated: [owner("uid-web", true)],
};

test("a directory of the former format is read, written and opened again, with the owners of its objects", async () => {
  const directory = await unpack();
  const format = (): number => JSON.parse(readFileSync(join(directory, "identity.json"), "utf8")).format;
  expect(format()).toBe(2);
  const store = await openAlone({ directory });
  expect(format()).toBe(3);
  expect(ownersByName(store)).toEqual(expected);

  const former = await store.scanAt(store.revision, { prefix: keyOf("updated") });
  expect(former.map(({ index }) => index.owners)).toEqual([[owner("uid-web", true)]]);
  const events = await store.eventsAfter(store.compactedRevision, { prefix: "/registry/", limit: 100 });
  const created = events.find(({ entry, type }) => entry.key === keyOf("updated") && type === "ADDED");
  expect(created?.entry.index.owners).toEqual([owner("uid-old")]);

  const current = store.get(keyOf("owned"));
  const index: ObjectIndex = { ...(current?.index as ObjectIndex), owners: [owner("uid-api", true)] };
  const body = {
    prefix: Buffer.from('{"metadata":{"name":"owned","resourceVersion":"'),
    suffix: Buffer.from('","ownerReferences":[{"uid":"uid-api","controller":true}]}}'),
  };
  const expectAny = { kind: "any" } as const;
  await store.commit({ key: keyOf("owned"), expect: expectAny, operation: { kind: "put", index, body } });
  await store.commit({ key: keyOf("free"), expect: expectAny, operation: { kind: "delete", last: body } });
  const { free: _, ...left } = { ...expected, owned: [owner("uid-api", true)] };
  expect(ownersByName(store)).toEqual(left as typeof expected);
  await store.close();

  const again = await openAlone({ directory });
  expect(ownersByName(again)).toEqual(left as typeof expected);
  await again.close();
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase, writeDurably } from "../../src/storage/mvcc/database.ts";
import { currentKey } from "../../src/storage/mvcc/layout.ts";
import { TestServer } from "./server.ts";

const path = "/api/v1/namespaces/default/configmaps";
const option = "ignoreStoreReadErrorWithClusterBreakingPotential=true";
const gates = { AllowUnsafeMalformedObjectDeletion: true };
const dataDir = mkdtempSync(join(tmpdir(), "quorate-"));

/** Flips one bit of a stored object, as a disk error does. */
async function damage(name: string): Promise<void> {
  const database = await openDatabase(join(dataDir, "state"), { createIfMissing: false });
  const key = currentKey(`/registry/configmaps/default/${name}`);
  const value = Buffer.from((await database.get(key)) as Buffer);
  value[value.length - 3] = (value[value.length - 3] as number) ^ 1;
  await writeDurably(database, [{ type: "put", key, value }]);
  await database.close();
}

beforeAll(async () => {
  await using server = await TestServer.start({ dataDir });
  for (const name of ["bad", "good"]) await server.post(path, { metadata: { name, finalizers: ["example.com/keep"] } });
  await server.running.close();
  await damage("bad");
});
afterAll(() => rmSync(dataDir, { recursive: true }));

describe("an object that cannot be read", () => {
  test("is named by reads, writes and lists, and hides no other", async () => {
    await using server = await TestServer.start({ dataDir });
    for (const answer of [
      await server.get(`${path}/bad`),
      await server.request("DELETE", `${path}/bad`),
      await server.request("DELETE", `${path}/bad?${option}`),
      await server.post(path, { metadata: { name: "bad" } }),
    ]) {
      expect([answer.code, answer.json.reason]).toEqual([500, "StoreReadError"]);
      expect(answer.json.message).toStartWith('failed to read configmaps "bad" from the storage: ');
    }
    const list = await server.get(path);
    expect(list.json.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual(["good"]);
    expect(list.headers.get("warning")).toContain("/registry/configmaps/default/bad cannot be read");
  });

  test("is removed on explicit demand despite its finalizers, where the gate allows it", async () => {
    await using server = await TestServer.start({ dataDir, featureGates: gates });
    const readable = await server.request("DELETE", `${path}/good?${option}`);
    expect([readable.code, readable.json.reason]).toEqual([409, "Conflict"]);
    expect(readable.json.message).toContain(
      "unsafe deletion is not allowed because the object is decodable from storage",
    );
    expect((await server.request("DELETE", `${path}/none?${option}`)).code).toBe(404);
    const several = await server.request("DELETE", `${path}/bad?${option}&gracePeriodSeconds=0`);
    expect([several.code, several.json.details.causes[0].message]).toEqual([
      422,
      "Invalid value: true: cannot be set together with .gracePeriodSeconds",
    ]);
    expect((await server.request("DELETE", `${path}?${option}`)).code).toBe(422);

    const removed = await server.request("DELETE", `${path}/bad?${option}`);
    expect([removed.code, removed.json.status]).toEqual([200, "Success"]);
    expect((await server.get(`${path}/bad`)).code).toBe(404);
    expect((await server.get(path)).headers.get("warning")).toBeNull();
    expect((await server.post(path, { metadata: { name: "bad" } })).code).toBe(201);
  });
});

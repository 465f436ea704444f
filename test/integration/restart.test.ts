import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brief, configMap, mergePatch, TestServer } from "./server.ts";

const maps = "/api/v1/namespaces/default/configmaps";
let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "restart-"));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

test("a watch continues over a restart without a gap or a repetition", async () => {
  const seen: string[] = [];
  let last = "0";
  const written: string[] = [];
  for (let run = 0; run < 3; run++) {
    await using server = await TestServer.start({ dataDir });
    if (run === 0) last = await server.revision();
    for (let turn = 0; turn < 5; turn++) {
      const name = `run-${run}-${turn}`;
      await server.create(maps, configMap(name));
      await server.delete(`${maps}/${name}`);
      written.push(`ADDED ${name}`, `DELETED ${name}`);
    }
    // Each run's watch stops in the middle of the writes. The next one must show the rest.
    await using watch = await server.watch(`${maps}?resourceVersion=${last}`);
    const count = run === 2 ? written.length - seen.length : 7;
    for (const event of await watch.take(count)) {
      seen.push(brief(event));
      last = event.object.metadata.resourceVersion;
    }
  }
  expect(seen).toEqual(written.filter((text) => seen.includes(text)));
  expect(seen).toEqual(written);
});

test("objects, revision, token and pages outlive a restart", async () => {
  let token = "";
  let first: any;
  let stored: any;
  {
    await using server = await TestServer.start({ dataDir });
    for (const name of ["a", "b", "c"]) await server.create(maps, configMap(name, { data: { name } }));
    stored = (await server.get(`${maps}/b`)).json;
    first = (await server.get(`${maps}?limit=1`)).json;
    await server.delete(`${maps}/c`);
    token = server.running.token;
  }
  await using server = await TestServer.start({ dataDir });
  expect(server.running.token).toBe(token);
  expect((await server.get(`${maps}/b`)).json).toEqual(stored);
  expect(Number(await server.revision())).toBeGreaterThan(Number(first.metadata.resourceVersion));
  const rest = (await server.get(`${maps}?limit=5&continue=${first.metadata.continue}`)).json;
  expect(rest.items.map(({ metadata }: any) => metadata.name)).toEqual(["b", "c"]);
  expect(rest.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
});

test("a watch from a revision that is compacted away gets one error event and the end", async () => {
  let old = "";
  {
    await using server = await TestServer.start({ dataDir, historyRetentionDurationMs: 50 });
    old = (await server.create(maps, configMap("a"))).metadata.resourceVersion;
    const exact = `${maps}?resourceVersion=${old}&resourceVersionMatch=Exact`;
    for (let turn = 0; (await server.get(exact)).code !== 410; turn++) {
      if (turn > 200) throw new Error("history is never compacted");
      await server.patch(`${maps}/a`, mergePatch, { data: { turn: String(turn) } });
      await Bun.sleep(10);
    }
  }
  await using server = await TestServer.start({ dataDir });
  await using watch = await server.watch(`${maps}?resourceVersion=${old}`);
  expect(watch.response.status).toBe(200);
  const [error, ...more] = await watch.rest();
  expect(more).toEqual([]);
  expect(error?.type).toBe("ERROR");
  expect(error?.object).toMatchObject({ kind: "Status", status: "Failure", reason: "Expired", code: 410 });
  expect(error?.object.message).toMatch(/^too old resource version: \d+ \(\d+\)$/);
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { brief, configMap, mergePatch, TestServer } from "./server.ts";

let server: TestServer;
let maps: string;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.close());

async function fresh(): Promise<void> {
  maps = `/api/v1/namespaces/${await server.namespace()}/configmaps`;
}

const endAnnotation = "k8s.io/initial-events-end";
const annotated = ({ object }: any) => object.metadata.annotations?.[endAnnotation];

describe("where a watch starts", () => {
  let old: string;
  beforeAll(async () => {
    await fresh();
    old = (await server.create(maps, configMap("a"))).metadata.resourceVersion;
    await server.create(maps, configMap("b"));
  });

  test.each<[query: string, events: string[]]>([
    ["", ["ADDED a", "ADDED b"]],
    ["resourceVersion=0", ["ADDED a", "ADDED b"]],
    ["resourceVersion=OLD", ["ADDED b"]],
    ["allowWatchBookmarks=true", ["ADDED a", "ADDED b", "BOOKMARK"]],
    ["resourceVersion=0&allowWatchBookmarks=true", ["ADDED a", "ADDED b", "BOOKMARK"]],
    ["sendInitialEvents=true&resourceVersionMatch=NotOlderThan", ["ADDED a", "ADDED b"]],
    [
      "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
      ["ADDED a", "ADDED b", "BOOKMARK"],
    ],
    [
      "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=0",
      ["ADDED a", "ADDED b", "BOOKMARK"],
    ],
    [
      "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=OLD",
      ["ADDED a", "ADDED b", "BOOKMARK"],
    ],
    ["sendInitialEvents=false&resourceVersionMatch=NotOlderThan", []],
    ["sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=OLD", ["ADDED b"]],
  ])("?%s sends %j and then later events", async (query, events) => {
    await using watch = await server.watch(`${maps}?${query.replace("OLD", old)}`);
    expect(watch.response.status).toBe(200);
    const first = await watch.take(events.length);
    expect(first.map(brief)).toEqual(events);
    expect(first.filter(annotated)).toEqual(first.filter(({ type }) => type === "BOOKMARK"));
    await server.create(maps, configMap("late"));
    const gone = await server.delete(`${maps}/late`);
    expect(gone.code).toBe(200);
    expect((await watch.take(2)).map(brief)).toEqual(["ADDED late", "DELETED late"]);
  });

  const match = "resourceVersionMatch";
  test.each<[query: string, causes: string[]]>([
    [
      "resourceVersionMatch=NotOlderThan",
      [`${match}: Forbidden: ${match} is forbidden for watch unless sendInitialEvents is provided`],
    ],
    ["sendInitialEvents=true", [`${match}: Forbidden: sendInitialEvents requires setting ${match} to NotOlderThan`]],
    [
      "sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=5",
      [
        `${match}: Forbidden: sendInitialEvents requires setting ${match} to NotOlderThan`,
        `${match}: Unsupported value: "Exact": supported values: "NotOlderThan"`,
      ],
    ],
    [
      "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&continue=e30",
      [`${match}: Forbidden: ${match} is forbidden when continue is provided`],
    ],
  ])("?%s is refused as invalid ListOptions", async (query, causes) => {
    const { code, json } = await server.get(`${maps}?watch=true&${query}`);
    expect(code).toBe(422);
    const text = causes.length === 1 ? causes[0] : `[${causes.join(", ")}]`;
    expect(json.message).toBe(`ListOptions.meta.k8s.io "" is invalid: ${text}`);
    expect(json.details.causes).toHaveLength(causes.length);
  });

  test("an invalid resourceVersion is an error before the stream starts", async () => {
    const { code, json } = await server.get(`${maps}?watch=true&resourceVersion=x`);
    expect(code).toBe(500);
    expect(json.message).toStartWith('resourceVersion: Invalid value: "x"');
  });

  test("a future revision without initial events waits quietly", async () => {
    await using watch = await server.watch(`${maps}?resourceVersion=99999999&timeoutSeconds=1`);
    await server.create(maps, configMap("quiet"));
    expect(await watch.rest()).toEqual([]);
    await server.delete(`${maps}/quiet`);
  });

  test("initial events of a revision that never arrives end with an error event", async () => {
    const query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=99999999";
    await using watch = await server.watch(`${maps}?${query}`);
    expect(watch.response.status).toBe(200);
    const [error, ...more] = await watch.rest();
    expect(more).toEqual([]);
    expect(error?.type).toBe("ERROR");
    expect(error?.object).toMatchObject({ kind: "Status", code: 504, reason: "Timeout" });
    expect(error?.object.details.causes[0].reason).toBe("ResourceVersionTooLarge");
  });
});

test("events carry the object with its type; a deletion carries its own revision", async () => {
  await fresh();
  await using watch = await server.watch(`${maps}?resourceVersion=${await server.revision()}`);
  const created = await server.create(maps, configMap("a", { data: { x: "1" } }));
  const updated = (await server.patch(`${maps}/a`, mergePatch, { data: { x: "2" } })).json;
  await server.patch(`${maps}/a`, mergePatch, {});
  await server.delete(`${maps}/a`);
  const [added, modified, deleted] = await watch.take(3);
  expect(added).toEqual({ type: "ADDED", object: created });
  expect(modified).toEqual({ type: "MODIFIED", object: updated });
  expect(deleted?.type).toBe("DELETED");
  const deletedAt = Number(deleted?.object.metadata.resourceVersion);
  expect(deletedAt).toBeGreaterThan(Number(updated.metadata.resourceVersion));
  expect(deleted?.object.data).toEqual({ x: "2" });

  await using resumed = await server.watch(`${maps}?resourceVersion=${deleted?.object.metadata.resourceVersion}`);
  await server.create(maps, configMap("b"));
  expect((await resumed.take(1)).map(brief)).toEqual(["ADDED b"]);
});

describe("a watch with a selector", () => {
  test.each([
    ["labelSelector=on%3Dyes", (on: boolean) => ({ metadata: { labels: { on: on ? "yes" : "no" } } })],
    ["labelSelector=on", (on: boolean) => ({ metadata: { labels: { on: on ? "x" : null } } })],
    ["labelSelector=on!%3Dno", (on: boolean) => ({ metadata: { labels: { on: on ? null : "no" } } })],
  ])("?%s shows objects come and go", async (query, state) => {
    await fresh();
    await server.create(maps, configMap("a", { labels: { on: "no" } }));
    await server.patch(`${maps}/a`, mergePatch, state(false));
    await using watch = await server.watch(`${maps}?resourceVersion=${await server.revision()}&${query}`);
    await server.patch(`${maps}/a`, mergePatch, { data: { turn: "unseen" } });
    await server.patch(`${maps}/a`, mergePatch, state(true));
    await server.patch(`${maps}/a`, mergePatch, { data: { turn: "seen" } });
    const out = await server.patch(`${maps}/a`, mergePatch, { ...state(false), data: { turn: "hidden" } });
    await server.delete(`${maps}/a`);
    await server.create(maps, configMap("b"));
    await server.patch(`${maps}/b`, mergePatch, state(true));
    const events = await watch.take(4);
    expect(events.slice(0, 3).map(brief)).toEqual(["ADDED a", "MODIFIED a", "DELETED a"]);
    expect(brief(events[3] as any)).toBe("ADDED b");
    expect(events[2]?.object.data).toEqual({ turn: "seen" });
    expect(events[2]?.object.metadata.resourceVersion).toBe(out.json.metadata.resourceVersion);
  });

  test("on one name sees that object alone, by field selector and by the old prefix", async () => {
    await fresh();
    await server.create(maps, configMap("a"));
    await server.create(maps, configMap("b"));
    const at = await server.revision();
    await using byField = await server.watch(`${maps}?fieldSelector=metadata.name%3Db&resourceVersion=${at}`);
    await using byPrefix = await server.watch(`${maps.replace("/v1/", "/v1/watch/")}/b?resourceVersion=${at}`);
    await using initial = await server.watch(`${maps}?fieldSelector=metadata.name%3Db`);
    await server.patch(`${maps}/a`, mergePatch, { data: { x: "1" } });
    await server.patch(`${maps}/b`, mergePatch, { data: { x: "1" } });
    await server.delete(`${maps}/b`);
    for (const watch of [byField, byPrefix]) {
      expect((await watch.take(2)).map(brief)).toEqual(["MODIFIED b", "DELETED b"]);
    }
    expect((await initial.take(3)).map(brief)).toEqual(["ADDED b", "MODIFIED b", "DELETED b"]);
  });
});

describe("bookmarks", () => {
  test("the first one after the initial state has the annotation, and no later one", async () => {
    await fresh();
    await server.create(maps, configMap("a"));
    const query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    await using watch = await server.watch(`${maps}?${query}&timeoutSeconds=3`);
    const [, end] = await watch.take(2);
    expect(end?.type).toBe("BOOKMARK");
    expect(end?.object.kind).toBe("ConfigMap");
    expect(annotated(end)).toBe("true");
    await server.create("/api/v1/namespaces", { metadata: { generateName: "other-" } });
    const revision = await server.revision();
    const rest = await watch.rest();
    expect(rest.length).toBeGreaterThan(0);
    for (const { type, object } of rest) {
      expect(type).toBe("BOOKMARK");
      expect(object.metadata.annotations).toBeUndefined();
    }
    // Changes of other resources advance an idle watch.
    expect(Number(rest.at(-1)?.object.metadata.resourceVersion)).toBeGreaterThanOrEqual(Number(revision));
  });

  test("are not sent without a request", async () => {
    await fresh();
    await using watch = await server.watch(`${maps}?timeoutSeconds=1`);
    expect(await watch.rest()).toEqual([]);
  });
});

test("timeoutSeconds ends the stream cleanly, and not before that time", async () => {
  await fresh();
  const started = performance.now();
  await using watch = await server.watch(`${maps}?timeoutSeconds=1`);
  expect(await watch.rest()).toEqual([]);
  expect(performance.now() - started).toBeGreaterThan(900);
});

test("a list and a watch from its revision miss nothing while many write", async () => {
  await fresh();
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    for (let turn = 0; turn < 20; turn++) await server.create(maps, configMap(`w-${writer}-${turn}`));
  });
  await Bun.sleep(5);
  const { items, metadata } = (await server.get(maps)).json;
  await using watch = await server.watch(`${maps}?resourceVersion=${metadata.resourceVersion}`);
  await Promise.all(writers);
  const events = await watch.take(160 - items.length);
  const seen = [...items, ...events.map(({ object }) => object)].map((object: any) => object.metadata.name);
  expect(new Set(seen).size).toBe(160);
  const revisions = events.map(({ object }) => Number(object.metadata.resourceVersion));
  expect(revisions).toEqual([...revisions].sort((a, b) => a - b));
});

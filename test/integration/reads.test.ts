import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { until } from "../until.ts";
import { configMap, TestServer } from "./server.ts";

let server: TestServer;
let maps: string;
/** The revision at which `a`, `b` and `c` exist. Afterwards `b` is changed, `c` deleted and `d` created. */
let before: string;
let after: string;

beforeAll(async () => {
  server = await TestServer.start();
  maps = `/api/v1/namespaces/${await server.namespace()}/configmaps`;
  for (const name of ["a", "b"]) await server.create(maps, configMap(name, { data: { turn: "1" } }));
  before = (await server.create(maps, configMap("c"))).metadata.resourceVersion;
  await server.put(`${maps}/b`, configMap("b", { data: { turn: "2" } }));
  await server.delete(`${maps}/c`);
  after = (await server.create(maps, configMap("d"))).metadata.resourceVersion;
});
afterAll(() => server.close());

const far = "999999999";
const names = (json: any): string => json.items.map(({ metadata }: any) => metadata.name).join();

function queryOf(values: Readonly<Record<string, string>>): string {
  const filled = Object.entries(values).map(([key, value]): [string, string] => [
    key,
    value === "before" ? before : value === "after" ? after : value,
  ]);
  return new URLSearchParams(filled).toString();
}

describe("the table of resourceVersion and resourceVersionMatch", () => {
  const old = "a,b,c";
  const now = "a,b,d";
  test.each<[query: Record<string, string>, items: string, version: "before" | "after"]>([
    [{}, now, "after"],
    [{ resourceVersion: "" }, now, "after"],
    [{ limit: "10" }, now, "after"],
    [{ limit: "0" }, now, "after"],
    [{ limit: "-3" }, now, "after"],
    [{ resourceVersion: "0" }, now, "after"],
    [{ resourceVersion: "0", limit: "10" }, now, "after"],
    [{ resourceVersion: "0", resourceVersionMatch: "NotOlderThan" }, now, "after"],
    [{ resourceVersion: "0", resourceVersionMatch: "NotOlderThan", limit: "10" }, now, "after"],
    [{ resourceVersion: "before" }, now, "after"],
    [{ resourceVersion: "before", limit: "10" }, old, "before"],
    [{ resourceVersion: "before", resourceVersionMatch: "Exact" }, old, "before"],
    [{ resourceVersion: "00", resourceVersionMatch: "Exact" }, now, "after"],
    [{ resourceVersion: "0", limit: "1" }, now, "after"],
    [{ resourceVersion: "0", limit: "1", resourceVersionMatch: "NotOlderThan" }, now, "after"],
    [{ resourceVersion: "before", resourceVersionMatch: "Exact", limit: "10" }, old, "before"],
    [{ resourceVersion: "before", resourceVersionMatch: "NotOlderThan" }, now, "after"],
    [{ resourceVersion: "before", resourceVersionMatch: "NotOlderThan", limit: "10" }, now, "after"],
    [{ resourceVersion: "after", resourceVersionMatch: "Exact" }, now, "after"],
    [{ resourceVersion: "after" }, now, "after"],
  ])("a list with %j has %s", async (query, items, version) => {
    const { code, json } = await server.get(`${maps}?${queryOf(query)}`);
    expect(code).toBe(200);
    expect(names(json)).toBe(items);
    if (version === "before") expect(json.metadata).toEqual({ resourceVersion: before });
    // The server renews its own record every ten seconds, which makes a newer revision.
    else expect(Number(json.metadata.resourceVersion)).toBeGreaterThanOrEqual(Number(after));
  });

  const forbidden = "FieldValueForbidden";
  test.each<[query: Record<string, string>, causes: [reason: string, field: string, message: string][]]>([
    [
      { resourceVersionMatch: "Exact" },
      [
        [
          forbidden,
          "resourceVersionMatch",
          "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
        ],
      ],
    ],
    [
      { resourceVersionMatch: "NotOlderThan", limit: "2" },
      [
        [
          forbidden,
          "resourceVersionMatch",
          "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
        ],
      ],
    ],
    [
      { resourceVersion: "0", resourceVersionMatch: "Exact" },
      [
        [
          forbidden,
          "resourceVersionMatch",
          'Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
        ],
      ],
    ],
    [
      { resourceVersion: "before", resourceVersionMatch: "x" },
      [
        [
          "FieldValueNotSupported",
          "resourceVersionMatch",
          'Unsupported value: "x": supported values: "Exact", "NotOlderThan", ""',
        ],
      ],
    ],
    [
      { resourceVersion: "before", resourceVersionMatch: "Exact", continue: "e30" },
      [[forbidden, "resourceVersionMatch", "Forbidden: resourceVersionMatch is forbidden when continue is provided"]],
    ],
    [
      { sendInitialEvents: "true" },
      [[forbidden, "sendInitialEvents", "Forbidden: sendInitialEvents is forbidden for list"]],
    ],
  ])("a list with %j is refused as invalid ListOptions", async (query, causes) => {
    const { code, json } = await server.get(`${maps}?${queryOf(query)}`);
    expect(code).toBe(422);
    expect(json.message).toStartWith('ListOptions.meta.k8s.io "" is invalid: ');
    expect(json.details.kind).toBe("ListOptions");
    expect(json.details.group).toBe("meta.k8s.io");
    expect(json.details.causes.map(({ reason, field, message }: any) => [reason, field, message])).toEqual(causes);
  });

  test.each<[query: string, message: string]>([
    [
      "resourceVersion=abc",
      'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    ],
    [
      "resourceVersion=-1",
      'invalid resource version: resourceVersion: Invalid value: "-1": strconv.ParseUint: parsing "-1": invalid syntax',
    ],
    ["limit=x", 'strconv.ParseInt: parsing "x": invalid syntax'],
    ["continue=%25%25", "invalid continue token: continue key is not valid: "],
    ["continue=e30", "invalid continue token: continue key is not valid: "],
    [
      `continue=${Buffer.from('{"v":"meta.k8s.io/v1","rv":3,"start":"../x"}').toString("base64url")}`,
      "invalid continue",
    ],
    [`continue=${Buffer.from('{"v":"meta.k8s.io/v1","rv":0,"start":"x"}').toString("base64url")}`, "invalid continue"],
    ["continue=e30&resourceVersion=5", "invalid continue token: continue key is not valid: "],
    [
      `continue=${Buffer.from('{"v":"meta.k8s.io/v1","rv":3,"start":"x"}').toString("base64url")}&resourceVersion=5`,
      "specifying resource version is not allowed when using continue",
    ],
    ["labelSelector=a%20b%20c", "unable to parse requirement: "],
    [
      "fieldSelector=spec.foo%3D1",
      '"spec.foo" is not a known field selector: only "metadata.name", "metadata.namespace"',
    ],
    ["fieldSelector=a", "invalid selector: 'a'; can't understand 'a'"],
  ])("a list with ?%s is a bad request", async (query, message) => {
    const { code, json } = await server.get(`${maps}?${query}`);
    expect({ code, reason: json.reason }).toEqual({ code: 400, reason: "BadRequest" });
    expect(json.message).toContain(message);
  });
});

describe("a revision that the server does not have yet", () => {
  test("is waited for and then refused with Retry-After", async () => {
    const started = performance.now();
    const matches = ["", "limit=1&", "resourceVersionMatch=NotOlderThan&", "resourceVersionMatch=Exact&"];
    const paths = [...matches.map((match) => `${maps}?${match}`), `${maps}/a?`];
    const answers = await Promise.all(paths.map((path) => server.get(`${path}resourceVersion=${far}`)));
    expect(performance.now() - started).toBeGreaterThan(2_500);
    for (const { code, json, headers } of answers) {
      expectTooLarge(code, json);
      expect(json.details.retryAfterSeconds).toBe(1);
      expect(headers.get("retry-after")).toBe("1");
    }
  });

  test("is served as soon as it is there", async () => {
    const next = Number(await server.revision()) + 1;
    const reading = ["", "&resourceVersionMatch=Exact"].map((match) =>
      server.get(`${maps}?resourceVersion=${next}${match}`),
    );
    await server.create("/api/v1/namespaces", { metadata: { generateName: "later-" } });
    for (const { code, json } of await Promise.all(reading)) {
      expect(code).toBe(200);
      expect(Number(json.metadata.resourceVersion)).toBeGreaterThanOrEqual(next);
    }
  });

  function expectTooLarge(code: number, json: any): void {
    expect({ code, reason: json.reason }).toEqual({ code: 504, reason: "Timeout" });
    expect(json.message).toMatch(/^Timeout: Too large resource version: 999999999, current: \d+$/);
    expect(json.details.causes).toEqual([{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }]);
  }
});

describe("get", () => {
  test.each([[""], ["?resourceVersion=0"], ["?resourceVersion=before"], ["?resourceVersion=after"]])(
    "with %p answers with the newest state",
    async (query) => {
      const { code, json } = await server.get(`${maps}/b${query.replace("before", before).replace("after", after)}`);
      expect(code).toBe(200);
      expect(json.data).toEqual({ turn: "2" });
    },
  );

  test("of a missing object is NotFound", async () => {
    const { code, json } = await server.get(`${maps}/nobody`);
    expect(code).toBe(404);
    expect(json).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: 'configmaps "nobody" not found',
      reason: "NotFound",
      details: { name: "nobody", kind: "configmaps" },
      code: 404,
    });
  });

  test("with an invalid resourceVersion is an error without reason", async () => {
    const { code, json } = await server.get(`${maps}/a?resourceVersion=abc`);
    expect(code).toBe(500);
    expect(json.reason).toBeUndefined();
    expect(json.message).toBe(
      'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    );
  });

  test("with export is refused", async () => {
    const { code, json } = await server.get(`${maps}/a?export=true`);
    expect(code).toBe(400);
    expect(json.message).toBe("the export parameter, deprecated since v1.14, is no longer supported");
  });
});

describe("pages", () => {
  const count = 25;
  let paged: string;
  beforeAll(async () => {
    paged = `/api/v1/namespaces/${await server.namespace()}/configmaps`;
    for (let at = 0; at < count; at++) {
      const name = `m-${String(at).padStart(2, "0")}`;
      await server.create(paged, configMap(name, { labels: { even: String(at % 2 === 0) } }));
    }
  });

  test("show one revision despite later writes, and count the remaining objects", async () => {
    const first = (await server.get(`${paged}?limit=10`)).json;
    expect(first.items).toHaveLength(10);
    expect(first.metadata.remainingItemCount).toBe(15);
    await server.create(paged, configMap("m-10-late"));
    await server.delete(`${paged}/m-20`);
    await server.patch(`${paged}/m-21`, "application/merge-patch+json", { data: { late: "yes" } });

    const second = (await server.get(`${paged}?limit=10&continue=${first.metadata.continue}`)).json;
    expect(second.items).toHaveLength(10);
    expect(second.metadata.remainingItemCount).toBe(5);
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    const third = (await server.get(`${paged}?limit=10&continue=${second.metadata.continue}`)).json;
    expect(third.metadata).toEqual({ resourceVersion: first.metadata.resourceVersion });

    const seen = [first, second, third].flatMap(({ items }) => items);
    expect(seen.map(({ metadata }: any) => metadata.name)).toEqual(
      Array.from({ length: count }, (_, at) => `m-${String(at).padStart(2, "0")}`),
    );
    expect(seen[21].data).toBeUndefined();

    await server.delete(`${paged}/m-10-late`);
    await server.create(paged, configMap("m-20", { labels: { even: "true" } }));
  });

  test("are full under a selector, without a remaining count", async () => {
    const first = (await server.get(`${paged}?limit=5&labelSelector=even%3Dtrue`)).json;
    expect(first.items).toHaveLength(5);
    expect(first.metadata.remainingItemCount).toBeUndefined();
    expect(first.metadata.continue).toBeString();
    const second = (
      await server.get(`${paged}?limit=100&labelSelector=even%3Dtrue&continue=${first.metadata.continue}`)
    ).json;
    expect(second.items).toHaveLength(8);
    expect(second.metadata.continue).toBeUndefined();
  });

  test("are read at the newest version if theirs is a zero other than 0", async () => {
    const { metadata, items } = (await server.get(`${paged}?limit=10&resourceVersion=00`)).json;
    expect(items).toHaveLength(10);
    expect(metadata.remainingItemCount).toBe(15);
  });

  test("of exactly the whole have no continue", async () => {
    const { metadata, items } = (await server.get(`${paged}?limit=${count}`)).json;
    expect(items).toHaveLength(count);
    expect(metadata.continue).toBeUndefined();
    expect(metadata.remainingItemCount).toBeUndefined();
  });

  test("of all namespaces come in the order of namespace and name", async () => {
    const seen: string[] = [];
    let token = "";
    do {
      const { items, metadata } = (await server.get(`/api/v1/configmaps?limit=7&continue=${token}`)).json;
      seen.push(...items.map((item: any) => `${item.metadata.namespace}/${item.metadata.name}`));
      token = metadata.continue ?? "";
    } while (token !== "");
    expect(seen).toEqual([...seen].sort());
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.length).toBeGreaterThan(count);
  });
});

describe("selectors", () => {
  test.each([
    ["fieldSelector=metadata.name%3Da", "a"],
    ["fieldSelector=metadata.name!%3Da", "b,d"],
    ["fieldSelector=metadata.namespace%3Dother", ""],
    ["labelSelector=x", ""],
    ["labelSelector=!x", "a,b,d"],
  ])("a list with ?%s has %p", async (query, items) => {
    const { code, json } = await server.get(`${maps}?${query}`);
    expect(code).toBe(200);
    expect(names(json)).toBe(items);
  });

  test("an empty list has items", async () => {
    const { text } = await server.get("/api/v1/namespaces/no-such-namespace/configmaps");
    expect(text).toMatch(
      /^\{"kind":"ConfigMapList","apiVersion":"v1","metadata":\{"resourceVersion":"\d+"\},"items":\[\]\}\n$/,
    );
  });

  test("items of a list carry no type", async () => {
    for (const item of (await server.get(maps)).json.items) expect(Object.keys(item)[0]).toBe("metadata");
  });
});

test("history that is compacted away answers 410, and a page's token can be exchanged for the rest", async () => {
  await using short = await TestServer.start({ historyRetentionDurationMs: 50 });
  const path = "/api/v1/namespaces/default/configmaps";
  for (const name of ["a", "b", "c"]) await short.create(path, configMap(name));
  const first = (await short.get(`${path}?limit=1`)).json;
  const old = first.metadata.resourceVersion;
  await short.create(path, configMap("d"));

  const expired = await until410(
    () => short.get(`${path}?limit=1&continue=${first.metadata.continue}`),
    async () => {
      await short.patch(`${path}/d`, "application/merge-patch+json", { data: { at: String(performance.now()) } });
    },
  );
  expect(expired.json.reason).toBe("Expired");
  expect(expired.json.message).toStartWith(
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without",
  );
  const fresh = expired.json.metadata.continue;
  expect(fresh).toBeString();
  const rest = (await short.get(`${path}?limit=10&continue=${fresh}`)).json;
  expect(names(rest)).toBe("b,c,d");
  expect(Number(rest.metadata.resourceVersion)).toBeGreaterThan(Number(old));
  // From there on, all pages are of one revision again.
  const { metadata } = (await short.get(`${path}?limit=1&continue=${fresh}`)).json;
  const next = JSON.parse(Buffer.from(metadata.continue, "base64url").toString());
  expect(String(next.rv)).toBe(metadata.resourceVersion);

  const exact = await short.get(`${path}?resourceVersion=${old}&resourceVersionMatch=Exact`);
  expect({ code: exact.code, reason: exact.json.reason, message: exact.json.message }).toEqual({
    code: 410,
    reason: "Expired",
    message: "The resourceVersion for the provided list is too old.",
  });
});

/** Compaction runs on a timer, so write until the old revision is compacted. */
function until410<T extends { readonly code: number }>(read: () => Promise<T>, write: () => Promise<void>): Promise<T> {
  return until(
    async () => {
      await write();
      return read();
    },
    ({ code }) => code === 410,
  );
}

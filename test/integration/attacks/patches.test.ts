import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { jsonPatch, mergePatch, strategicPatch, TestServer } from "../server.ts";

const apply = "application/apply-patch+yaml";
const configMaps = "/api/v1/namespaces/default/configmaps";
const path = `${configMaps}/patched`;
const unprocessable = "the server rejected our request due to an error in our request";
let server: TestServer;
let before: unknown;

beforeAll(async () => {
  server = await TestServer.start();
  await server.create(configMaps, { metadata: { name: "patched" }, data: { a: "b" } });
});
afterAll(() => server.close());
beforeEach(async () => {
  before = (await server.get(path)).json;
});

describe("attack 49: hostile JSON patches", () => {
  const copies = Array.from({ length: 100 }, (_, at) => ({ op: "copy", from: "/data", path: `/data/d${at}` }));
  test.each<[string, object[], number, string]>([
    [
      "CVE-2019-1002100: 10,001 operations",
      Array(10_001).fill({ op: "test", path: "/data/a", value: "b" }),
      413,
      "The allowed maximum operations in a JSON patch is 10000, got 10001",
    ],
    [
      "CVE-2019-1002100: copies that double the object",
      [{ op: "add", path: "/data/x", value: "y".repeat(100_000) }, ...copies],
      422,
      unprocessable,
    ],
    ["a move into its own child", [{ op: "move", from: "/data", path: "/data/a" }], 422, unprocessable],
    [
      "an index beyond exact integers",
      [{ op: "add", path: "/metadata/finalizers/9007199254740993", value: "x" }],
      422,
      unprocessable,
    ],
    ["a path through __proto__", [{ op: "add", path: "/__proto__/x", value: "x" }], 422, unprocessable],
    ["a path through a constructor", [{ op: "add", path: "/constructor/prototype/x", value: "x" }], 422, unprocessable],
    ["a removal of __proto__", [{ op: "remove", path: "/__proto__" }], 422, unprocessable],
    ["a removal behind the end", [{ op: "remove", path: "/metadata/finalizers/-" }], 422, unprocessable],
    ["an unknown escape", [{ op: "remove", path: "/data/~2" }], 422, unprocessable],
    ["a pointer without its slash", [{ op: "replace", path: "data", value: {} }], 422, unprocessable],
    ["a test of a megabyte", [{ op: "test", path: "/data/a", value: "x".repeat(1 << 20) }], 422, unprocessable],
    ["an unknown operation", [{ op: "eval", path: "/data/a", value: "x" }], 422, unprocessable],
    ["a copy from nowhere", [{ op: "copy", from: "/none/a", path: "/data/b" }], 422, unprocessable],
  ])("%s", async (_name, operations, code, text) => {
    const answer = await server.patch(path, jsonPatch, operations);
    expect([answer.code, answer.json.message]).toEqual([code, expect.stringContaining(text)]);
    expect((await server.get(path)).json).toEqual(before);
  });

  test("the key __proto__ of a map is a key like any other", async () => {
    const { code, json } = await server.patch(`${path}?dryRun=All`, jsonPatch, [
      { op: "add", path: "/data/__proto__", value: "x" },
    ]);
    expect([code, Object.keys(json.data)]).toEqual([200, ["__proto__", "a"]]);
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });
});

describe("attack 50: hostile merge, strategic and apply patches", () => {
  const nulls = `{"data":{${Array.from({ length: 70_000 }, (_, at) => `"${at}":null`)}}}`;
  const managed = (manager: string) => ({ manager, operation: "Apply", apiVersion: "v1", fieldsType: "FieldsV1" });
  test.each<[string, string, unknown, number, string]>([
    [
      "a list for an object",
      mergePatch,
      [1],
      400,
      "cannot unmarshal array into Go value of type map[string]interface {}",
    ],
    ["more nulls than an object may have values", mergePatch, nulls, 413, "limit is 64000 values"],
    ["an unknown directive", strategicPatch, { $patch: "explode" }, 500, "unknown patch type: explode in map"],
    ["a directive that is a number", strategicPatch, { data: { $patch: 5 } }, 500, "unknown patch type"],
    [
      "an order that is a text",
      strategicPatch,
      { metadata: { "$setElementOrder/finalizers": "x" } },
      500,
      "expected a []interface {}, but received a string",
    ],
    [
      "kept keys that are a text",
      strategicPatch,
      { data: { $retainKeys: "x" } },
      400,
      "invalid patch format of retainKeys",
    ],
    [
      "managed fields in an apply",
      apply,
      { apiVersion: "v1", kind: "ConfigMap", metadata: { managedFields: [managed("forged")] } },
      400,
      "metadata.managedFields must be nil",
    ],
    ["nesting", mergePatch, `{"x":${"[".repeat(20_000)}${"]".repeat(20_000)}}`, 400, ""],
    ["a bomb of aliases in an apply", apply, `a: &a ["x"]\nb: [${Array(40_000).fill("*a")}]`, 413, ""],
  ])("%s", async (_name, type, body, code, text) => {
    const answer = await server.patch(`${path}?fieldManager=attacker`, type, body);
    expect([answer.code, answer.json.message]).toEqual([code, expect.stringContaining(text)]);
    expect((await server.get(path)).json).toEqual(before);
  });

  test.each([
    ["f:__proto__", { "f:__proto__": { x: {} } }],
    [
      "a megabyte of them",
      Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`f:${"x".repeat(90)}${at}`, {}])),
    ],
    ["fields of no object", { "f:none": {}, 'k:{"a":1}': {}, "v:1": {} }],
  ])("forged managed fields, %s, change no other field", async (_name, fieldsV1) => {
    const metadata = { managedFields: [{ ...managed("forged"), operation: "Update", fieldsV1 }] };
    const answer = await server.patch(`${path}?dryRun=All`, mergePatch, { metadata });
    expect([answer.code, answer.json.data]).toEqual([200, { a: "b" }]);
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });

  test.each([mergePatch, strategicPatch])("__proto__ in a %s changes nothing", async (type) => {
    const { code, json } = await server.patch(
      path,
      type,
      '{"__proto__":{"data":{"q":"r"}},"metadata":{"__proto__":{"name":"b"}}}',
    );
    expect([code, json.data, json.metadata.name]).toEqual([200, { a: "b" }, "patched"]);
    expect(({} as Record<string, unknown>)["data"]).toBeUndefined();
  });
});

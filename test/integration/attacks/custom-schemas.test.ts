import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../src/api/json.ts";
import { cpuMs } from "../../cpu-time.ts";
import { until } from "../../until.ts";
import { TestServer } from "../server.ts";

const group = "attacks.example.com";
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/** Longer than one match takes, and much shorter than an exponential one. */
const cpuMsMax = 5_000;
let server: TestServer;
let defined = 0;

beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.close());

function definition(schema: JsonObject, version: JsonObject = {}): JsonObject & { readonly plural: string } {
  const name = `thing${defined++}`;
  const openAPIV3Schema = { type: "object", ...schema };
  return {
    plural: `${name}s`,
    metadata: { name: `${name}s.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: `${name}s`, kind: name },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema }, ...version }],
    },
  };
}

const withField = (field: JsonObject): JsonObject => ({ properties: { a: field } });

async function define(schema: JsonObject, version: JsonObject = {}): Promise<[code: number, message: string]> {
  const { plural: _, ...body } = definition(schema, version);
  const { code, json } = await server.post(definitions, body);
  return [code, json.message ?? ""];
}

/** Makes a kind with the schema and returns the path of its objects. */
async function install(schema: JsonObject): Promise<string> {
  const { plural, ...body } = definition(schema);
  await server.create(definitions, body);
  const path = `/apis/${group}/v1/namespaces/default/${plural}`;
  await until(async () => (await server.get(path)).code === 200);
  return path;
}

describe("attack 53: patterns are matched in linear time", () => {
  test.each<[string, JsonObject]>([
    ["a pattern of a schema", { type: "string", pattern: "(a+)+$" }],
    ["a pattern of alternatives", { type: "string", pattern: "(a|aa|a?)*$" }],
    [
      "a rule that matches",
      { type: "string", maxLength: 60_000, "x-kubernetes-validations": [{ rule: "self.matches('^(a+)+$')" }] },
    ],
  ])("%s", async (_name, field) => {
    const path = await install(withField(field));
    const before = cpuMs();
    const body = { apiVersion: `${group}/v1`, kind: path.split("/").at(-1)?.slice(0, -1), metadata: { name: "slow" } };
    const { code } = await server.post(path, { ...body, a: `${"a".repeat(50_000)}!` });
    expect(code).toBe("pattern" in field && field["pattern"] === "(a|aa|a?)*$" ? 201 : 422);
    expect(cpuMs() - before).toBeLessThan(cpuMsMax);
  });

  test.each([["(a)\\1"], ["(?=a)b"], ["(?<!a)b"], ["a{1001}{1001}"], ["("]])(
    "the pattern %s is refused",
    async (pattern) => {
      const [code, message] = await define(withField({ type: "string", pattern }));
      expect([code, message]).toEqual([422, expect.stringContaining("pattern: Invalid value")]);
    },
  );
});

describe("attack 54: expressions have a budget", () => {
  const nested: JsonObject = {
    type: "array",
    items: { type: "array", items: { type: "string" } },
    "x-kubernetes-validations": [{ rule: "self.all(x, x.all(y, self.all(z, z.all(w, w != y))))" }],
  };
  test.each<[string, JsonObject, string]>([
    ["of loops in loops", nested, "estimated rule cost exceeds budget"],
    [
      "of __proto__",
      { type: "string", "x-kubernetes-validations": [{ rule: "self.__proto__ == self" }] },
      "compilation failed",
    ],
    [
      "of a constructor",
      { type: "string", "x-kubernetes-validations": [{ rule: "self.constructor('x') == self" }] },
      "compilation failed",
    ],
    [
      "of a thousand brackets",
      { type: "string", "x-kubernetes-validations": [{ rule: `${"(".repeat(1_000)}true${")".repeat(1_000)}` }] },
      "compilation failed",
    ],
  ])("a rule %s is refused with its definition", async (_name, field, text) => {
    expect(await define(withField(field))).toEqual([422, expect.stringContaining(text)]);
  });

  test("a text that grows in a rule ends with the budget, not with the memory", async () => {
    const rule = `size(${Array.from({ length: 12 }, () => "[1,2,3,4,5,6,7,8,9]").reduce((inner, list) => `${list}.map(x, ${inner})`, "'a'")}) > 0`;
    const [code] = await define(withField({ type: "string", "x-kubernetes-validations": [{ rule }] }));
    expect(code).toBe(422);
  });
});

describe("attack 55: hostile schemas", () => {
  test.each<[string, JsonObject, JsonObject, string]>([
    ["a reference", withField({ $ref: "#/definitions/a" } as JsonObject), {}, "$ref is not supported"],
    ["no type", withField({ properties: {} }), {}, "must not be empty for specified object fields"],
    ["a default that does not fit", withField({ type: "string", default: 1 }), {}, "default: Invalid value"],
    [
      "a column that runs a program",
      {},
      { additionalPrinterColumns: [{ name: "a", type: "string", jsonPath: "{.a" }] },
      "must be a simple json path starting with .",
    ],
  ])("%s is refused", async (_name, schema, version, text) => {
    expect(await define(schema, version)).toEqual([422, expect.stringContaining(text)]);
  });

  test("300 levels, and 5,000 columns, are taken like others", async () => {
    const deep = Array.from({ length: 300 }).reduce<JsonObject>(
      (inner) => ({ type: "object", properties: { a: inner } }),
      { type: "string" },
    );
    expect((await define({ properties: { a: deep } }))[0]).toBe(201);
    const columns = Array.from({ length: 5_000 }, (_, at) => ({ name: `c${at}`, type: "string", jsonPath: ".a" }));
    expect((await define({}, { additionalPrinterColumns: columns }))[0]).toBe(201);
  });

  test("CVE-2019-11247: objects of the cluster are not served below a namespace", async () => {
    const { plural, ...body } = definition({});
    await server.create(definitions, { ...body, spec: { ...(body["spec"] as JsonObject), scope: "Cluster" } });
    await until(async () => (await server.get(`/apis/${group}/v1/${plural}`)).code === 200);
    expect((await server.get(`/apis/${group}/v1/namespaces/default/${plural}`)).code).toBe(404);
  });
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { longestTurnMs } from "../longest-turn.ts";
import { until } from "../until.ts";
import { mergePatch, TestServer } from "./server.ts";

/** Maximum CPU time of a turn. The aim is 50 ms on a warm server. */
const turnMsMax = 400;

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const group = "hostile.example.com";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.close());

type Schema = Record<string, unknown>;

const fields = (properties: Schema, more: Schema = {}): Schema => ({ type: "object", properties, ...more });
const many = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const manyFields = (count: number, field: Schema) => Object.fromEntries(many(count, (at) => [`field${at}`, field]));

function nested(depth: number): Schema {
  let schema: Schema = { type: "string" };
  for (let at = 0; at < depth; at++) schema = fields({ a: schema });
  return schema;
}

/** A list of numbers with a rule. */
const ruled = (rule: string) =>
  fields(
    { list: { type: "array", maxItems: 100, items: { type: "integer" } } },
    { "x-kubernetes-validations": [{ rule }] },
  );

let count = 0;
function definition(spec: Schema) {
  const plural = `kind${++count}s`;
  const openAPIV3Schema = fields({ spec });
  const names = { plural, kind: `Kind${count}` };
  const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }];
  const metadata = { name: `${plural}.${group}` };
  return { metadata, spec: { group, scope: "Namespaced", names, versions } };
}

async function sent(path: string, body: unknown, method = "POST", type = "application/json") {
  let code = 0;
  let message = "";
  const turnMs = await longestTurnMs(async () => {
    const answer = await server.request(method, path, { body, type });
    code = answer.code;
    message = String(answer.json.message ?? "");
  });
  expect(turnMs).toBeLessThan(turnMsMax);
  return { code, message };
}

/** Creates a kind, and returns the path of its objects and a function that makes a body of one. */
async function served(spec: Schema) {
  const made = definition(spec);
  const { kind, plural } = made.spec.names;
  expect((await sent(definitions, made)).code).toBe(201);
  const path = `/apis/${group}/v1/namespaces/default/${plural}`;
  await until(async () => (await server.get(path)).code === 200);
  let objects = 0;
  const object = (values: Schema) => ({
    apiVersion: `${group}/v1`,
    kind,
    metadata: { name: `object-${++objects}` },
    spec: values,
  });
  return { made, path, object };
}

describe("definitions that take much time get other requests a turn", () => {
  test.each([
    ["a schema of 1.4 MB", fields(manyFields(12_000, { type: "string", description: "x".repeat(70) }))],
    ["a description of 1.4 MB", { type: "object", description: "x".repeat(1_400_000) }],
    ["10,000 values of an enumeration", { type: "string", enum: many(10_000, (at) => `value${at}`) }],
    ["a schema that is nested a hundred times", nested(100)],
    ["a rule with 1,100 loops", ruled(many(1_100, (at) => `self.list.exists(x, x == ${at})`).join(" || "))],
  ])("taken: %s", async (_name, spec) => {
    expect(await sent(definitions, definition(spec))).toEqual({ code: 201, message: "" });
  });

  test.each([
    ["a pattern that backtracks", { type: "string", pattern: "^(a+)+$", default: `${"a".repeat(5_000)}b` }],
    ["a pattern of repeated repetitions", { type: "string", pattern: "((a{1,100}){1,100}){1,100}" }],
    [
      "a thousand patterns",
      fields(Object.fromEntries(many(1_000, (at) => [`f${at}`, { type: "string", pattern: `(x{1,${at}}){1,9}(` }]))),
    ],
    ["loops in loops", ruled(`${"self.list.all(x, ".repeat(12)}true${")".repeat(12)}`)],
    ["5,000 brackets", ruled(`${"(".repeat(5_000)}true${")".repeat(5_000)}`)],
    ["a long sum", ruled(`${many(9_000, (at) => at % 10).join("+")} > 0`)],
    ["a long literal", ruled(`'${"a".repeat(1_000_000)}' == ''`)],
  ])("refused: %s", async (_name, spec) => {
    expect((await sent(definitions, definition(spec))).code).toBe(422);
  });

  test("refused: a schema that is nested 900 times", async () => {
    expect((await sent(definitions, definition(nested(900)))).code).toBe(400);
  });
});

describe("objects of such definitions", () => {
  test("a kind with 31,000 fields", async () => {
    const all = manyFields(31_000, { type: "string" });
    const { made, path, object } = await served(fields(all));
    expect((await sent(path, object({ field0: "x" }))).code).toBe(201);
    expect((await sent(path, object(Object.fromEntries(Object.keys(all).map((name) => [name, "x"]))))).code).toBe(201);
    const [version] = made.spec.versions;
    const schema = { openAPIV3Schema: fields({ spec: fields({ ...all, other: { type: "string" } }) }) };
    const patch = { spec: { versions: [{ ...version, schema }] } };
    expect((await sent(`${definitions}/${made.metadata.name}`, patch, "PATCH", mergePatch)).code).toBe(200);
    expect((await sent(path, object({ other: "x" }))).code).toBe(201);
  });

  test("values that do not match", async () => {
    const { path, object } = await served(
      fields({
        pattern: { type: "string", pattern: "^(a+)+$" },
        value: { type: "string", enum: many(10_000, (at) => `value${at}`) },
      }),
    );
    expect((await sent(path, object({ pattern: `${"a".repeat(100_000)}b` }))).code).toBe(422);
    expect((await sent(path, object({ value: "other" }))).code).toBe(422);
  });
});

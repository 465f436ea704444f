import { expect, test } from "bun:test";
import { partOf, readSwagger } from "./swagger-part.ts";

const bytesOf = (document: unknown) => Buffer.from(JSON.stringify(document));
const reference = (name: string) => ({ $ref: `#/definitions/${name}` });

test("readSwagger() takes over known fields of the right type, and extensions", () => {
  const { definitions, paths, parameters } = readSwagger(
    bytesOf({
      swagger: "2.0",
      definitions: {
        Thing: {
          type: ["object"],
          "x-kubernetes-group-version-kind": [{ kind: "Thing" }],
          invented: 1,
          maxLength: "5",
        },
        Text: "no schema",
      },
      paths: {
        "/a": {
          get: { operationId: 7, tags: ["a", 1], security: [], responses: { 200: { description: "OK", headers: {} } } },
          trace: {},
        },
      },
      parameters: {
        header: { in: "header", name: "h" },
        limit: { in: "query", name: "limit", type: "integer", collectionFormat: "csv" },
      },
    }),
  );
  expect(Object.fromEntries(definitions)).toEqual({
    Thing: { type: "object", "x-kubernetes-group-version-kind": [{ kind: "Thing" }] },
  });
  expect(Object.fromEntries(paths)).toEqual({
    "/a": { get: { tags: ["a"], responses: { 200: { description: "OK" } } } },
  });
  expect(Object.fromEntries(parameters)).toEqual({ limit: { in: "query", name: "limit", type: "integer" } });
});

test("readSwagger() takes __proto__ for a name like any other", () => {
  const { definitions } = readSwagger(Buffer.from('{"definitions":{"__proto__":{"type":"object"}}}'));
  expect([...definitions.keys()]).toEqual(["__proto__"]);
  expect(({} as Record<string, unknown>)["type"]).toBeUndefined();
});

test("readSwagger() refuses other documents, and those that are too large or too deep", () => {
  const deep = (levels: number): object => (levels === 0 ? {} : { items: deep(levels - 1) });
  expect(() => readSwagger(Buffer.from("<html>"))).toThrow();
  expect(() => readSwagger(bytesOf([]))).toThrow("the document is not an object");
  expect(() => readSwagger(bytesOf({ definitions: { Deep: deep(200) } }))).toThrow("more than 100 levels");
  expect(() => readSwagger(bytesOf({ paths: Array(1_100_000).fill(0) }))).toThrow();
});

test("partOf() keeps what the paths refer to, also through other definitions and in circles", () => {
  const whole = readSwagger(
    bytesOf({
      paths: {
        "/wanted": {
          get: { parameters: [{ $ref: "#/parameters/body" }], responses: { 200: { schema: reference("A") } } },
        },
        "/other": { get: { responses: { 200: { schema: reference("Z") } } } },
      },
      definitions: {
        A: { properties: { b: reference("B") } },
        B: { items: reference("A"), allOf: [reference("gone")] },
        C: { type: "object" },
        Z: { type: "object" },
      },
      parameters: { body: { in: "body", name: "body", schema: reference("C") }, unused: { in: "query", name: "u" } },
    }),
  );
  const part = partOf(whole, (path) => path === "/wanted");
  expect([[...part.paths.keys()], [...part.definitions.keys()].sort(), [...part.parameters.keys()]]).toEqual([
    ["/wanted"],
    ["A", "B", "C"],
    ["body"],
  ]);
});

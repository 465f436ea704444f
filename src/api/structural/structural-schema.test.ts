import { expect, test } from "bun:test";
import { type FieldError, fieldErrorText } from "../field-error.ts";
import { cloneJson, type JsonObject } from "../json.ts";
import { runToEnd } from "../testing.ts";
import { StructuralSchema } from "./structural-schema.ts";

const port = {
  type: "object",
  required: ["name"],
  properties: {
    name: { type: "string", maxLength: 5 },
    number: { type: "integer", minimum: 1, default: 80 },
    protocol: { type: "string", enum: ["TCP", "UDP"] },
  },
};
const schema = new StructuralSchema({
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        ports: {
          type: "array",
          items: port,
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
        },
        size: { "x-kubernetes-int-or-string": true },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        template: {
          type: "object",
          "x-kubernetes-embedded-resource": true,
          "x-kubernetes-preserve-unknown-fields": true,
        },
        mode: { type: "string", default: "fast" },
        note: { type: "string", nullable: true },
      },
    },
    status: { type: "object", properties: { ready: { type: "boolean" } } },
  },
});

function objectWith(spec: JsonObject): JsonObject {
  return { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "a" }, spec };
}

function texts(spec: JsonObject, old?: JsonObject): string[] {
  return textsOf(schema.validate(objectWith(spec), old && objectWith(old)));
}

function textsOf(check: Generator<void, FieldError[]>): string[] {
  return runToEnd(check).result.map(fieldErrorText);
}

test("undeclared fields are removed and reported, and those of the object itself stay", () => {
  const object = objectWith({ ports: [{ name: "a", odd: 1 }], free: { any: 1 }, other: {} });
  expect(schema.prune(object)).toEqual(["spec.other", "spec.ports[0].odd"]);
  expect(object).toEqual(objectWith({ ports: [{ name: "a" }], free: { any: 1 } }));
});

test("defaults fill what is absent or a null that is not allowed", () => {
  const object = objectWith({ ports: [{ name: "a" }], mode: null, note: null, free: null });
  schema.dropNulls(object);
  schema.applyDefaults(object);
  expect(object["spec"]).toEqual({ ports: [{ name: "a", number: 80 }], mode: "fast", note: null });
});

test("the metadata of an embedded resource gets its typed form, or the object is refused", () => {
  const template = { apiVersion: "v1", kind: "Pod", metadata: { name: "p", odd: 1, creationTimestamp: null } };
  const object = objectWith({ template: cloneJson(template) });
  expect(schema.coerceEmbedded(object)).toEqual({ error: undefined, unknownFields: ["spec.template.metadata.odd"] });
  expect(object["spec"]).toEqual({ template: { apiVersion: "v1", kind: "Pod", metadata: { name: "p" } } });
  const { error } = schema.coerceEmbedded(objectWith({ template: { kind: 5 } }));
  expect(error && fieldErrorText(error)).toBe("spec.template.kind: Invalid value: 5: must be a string");
});

test.each<[spec: JsonObject, texts: string[]]>([
  [{ ports: [{ name: "web", number: 443, protocol: "TCP" }], size: "5%" }, []],
  [{ ports: [{}] }, ["spec.ports[0].name: Required value"]],
  [{ ports: [{ name: "much-too-long" }] }, ["spec.ports[0].name: Too long: may not be more than 5 bytes"]],
  [
    { ports: [{ name: "a", number: 0, protocol: "SCTP" }] },
    [
      "spec.ports[0].number: Invalid value: 0: spec.ports[0].number in body should be greater than or equal to 1",
      'spec.ports[0].protocol: Unsupported value: "SCTP": supported values: "TCP", "UDP"',
    ],
  ],
  [
    { size: true },
    ['spec.size: Invalid value: "boolean": spec.size in body must be of type integer,string: "boolean"'],
  ],
])("%j is judged", (spec, expected) => {
  expect(texts(spec)).toEqual(expected);
});

test("an update may leave what was wrong before", () => {
  const old = { ports: [{ name: "a", protocol: "X" }, { name: "much-too-long" }] };
  expect(texts({ ...old, mode: "slow" }, old)).toEqual([]);
  const changed = { ports: [{ name: "a", protocol: "Y" }, { name: "much-too-long" }] };
  expect(texts(changed, old)).toEqual([
    'spec.ports[0].protocol: Unsupported value: "Y": supported values: "TCP", "UDP"',
  ]);
});

test("keys of a list are there once", () => {
  const object = objectWith({ ports: [{ name: "a" }, { name: "b" }, { name: "a" }] });
  expect(textsOf(schema.validateListTypes(object))).toEqual(['spec.ports[2]: Duplicate value: {"name":"a"}']);
  expect(textsOf(schema.validateListTypes(object, object))).toEqual([]);
});

test("a status is judged by its own part", () => {
  expect(textsOf(schema.validateStatus({ ready: 1 }, undefined))).toEqual([
    'status.ready: Invalid value: "integer": ready in body must be of type boolean: "integer"',
  ]);
});

test("alternatives of alternatives come to an end", () => {
  const anyOf = Array.from({ length: 300 }, (_, at) => ({ required: [`k${at}`] }));
  const items = { type: "object", "x-kubernetes-preserve-unknown-fields": true, anyOf };
  const hostile = new StructuralSchema({ type: "object", properties: { list: { type: "array", items } } });
  expect(textsOf(hostile.validate({ list: Array.from({ length: 5_000 }, () => ({})) }))).toEqual([
    '<nil>: Invalid value: "": validating the object against the schema takes too long',
  ]);
});

test("checks of large objects yield, and those of small ones do not", () => {
  const resource = { type: "object", "x-kubernetes-embedded-resource": true, properties: { spec: { type: "string" } } };
  const large = new StructuralSchema({
    type: "object",
    properties: {
      names: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
      parts: { type: "object", additionalProperties: { anyOf: [{ required: ["b"] }, { required: ["a"] }] } },
      resources: { type: "array", items: resource },
    },
  });
  const objectOf = (size: number) => {
    const each = <T>(make: (at: number) => T) => Array.from({ length: size }, (_, at) => make(at));
    return {
      names: each((at) => `n${at}`),
      parts: Object.fromEntries(each((at) => [`p${at}`, { a: {} }])),
      resources: each(() => ({ apiVersion: "v1", kind: "A", metadata: {} })),
    };
  };
  const yieldsOf = (object: JsonObject) => [
    runToEnd(large.validate(object)).yields,
    runToEnd(large.validateListTypes(object)).yields,
    runToEnd(large.validateEmbedded(object)).yields,
  ];
  expect(yieldsOf(objectOf(50))).toEqual([0, 0, 0]);
  for (const yields of yieldsOf(objectOf(10_000))) expect(yields).toBeGreaterThanOrEqual(20);
});

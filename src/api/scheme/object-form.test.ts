import { describe, expect, test } from "bun:test";
import { metaSchema } from "../codec/meta-schema.ts";
import { type StructuralForm, structForm, structOf } from "./object-form.ts";

const schema = metaSchema("meta/v1.ObjectMeta");

describe("structForm()", () => {
  test("gives one form for one schema", () => {
    expect(structForm(schema)).toBe(structForm(schema));
    expect(structOf({ form: structForm(schema) })).toBe(schema);
  });

  test("decodes by the schema", () => {
    const { object, unknownFields } = structForm(schema).decode({ name: "a", nope: 1 }, { kind: "ObjectMeta" });
    expect(object).toEqual({ name: "a" });
    expect(unknownFields).toEqual(["nope"]);
  });
});

test("structOf() refuses the form of a custom kind", () => {
  const form: StructuralForm = {
    kind: "structural",
    id: "",
    schema: {},
    readSchema: () => ({}),
    decode: () => ({ object: {}, unknownFields: [] }),
    *prepare() {},
    applyDefaults() {},
    complete() {},
  };
  expect(() => structOf({ form })).toThrow("has no struct");
});

import { describe, expect, test } from "bun:test";
import { fieldErrorText } from "../../api/field-error.ts";
import type { JsonObject } from "../../api/json.ts";
import { type FieldEntry, TypeSchemas } from "../../api/schema/compile.ts";
import types from "../../api/scheme/generated/types.json";
import { DeclaredRules } from "./declared-rules.ts";
import { parseMarker } from "./marker.ts";

const rules = new DeclaredRules((gate) => gate === "On");

/** Returns the problems of an object of a type with these fields. The fields are pointers unless they are lists. */
function said(fields: Record<string, string[]>, object: JsonObject, old?: JsonObject): string[] {
  const entries = Object.entries(fields).map(([name, dv]): FieldEntry => {
    const [n = "", t = "string"] = name.split(" ");
    return { n, t, ptr: 1, dv };
  });
  const schema = new TypeSchemas({
    T: { fields: [{ n: "spec", t: "S" }] },
    S: { fields: entries },
    Item: {
      fields: [
        { n: "name", t: "string" },
        { n: "value", t: "string", dv: ["maxBytes=3"] },
      ],
    },
  }).struct("T");
  const verdict = rules.judge(schema, { spec: object }, old && { spec: old });
  return verdict?.errors.map(fieldErrorText) ?? [];
}

const items = (...names: string[]) => names.map((name) => ({ name }));

describe("declared rules", () => {
  const cases: [
    title: string,
    fields: Record<string, string[]>,
    object: JsonObject,
    old: JsonObject | undefined,
    expected: string[],
  ][] = [
    ["required", { a: ["required"] }, {}, undefined, ["spec.a: Required value"]],
    ["required and there", { a: ["required"] }, { a: "" }, undefined, []],
    ["required list that is empty", { "a []string": ["required"] }, { a: [] }, undefined, ["spec.a: Required value"]],
    [
      "too many",
      { "a []string": ["maxItems=1"] },
      { a: ["x", "y"] },
      undefined,
      ["spec.a: Too many: 2: must have at most 1 item"],
    ],
    ["too long", { a: ["maxLength=2"] }, { a: "abc" }, undefined, ["spec.a: Too long: may not be more than 2 bytes"]],
    [
      "too small",
      { "a int32": ["minimum=1"] },
      { a: 0 },
      undefined,
      ["spec.a: Invalid value: 0: must be greater than or equal to 1"],
    ],
    [
      "too large",
      { "a int64": ["maximum=5"] },
      { a: 2n ** 60n },
      undefined,
      [`spec.a: Invalid value: ${2n ** 60n}: must be less than or equal to 5`],
    ],
    ["twice", { "a []string": ["unique=set"] }, { a: ["x", "x"] }, undefined, ['spec.a[1]: Duplicate value: "x"']],
    [
      "twice by key",
      { "a []Item": ["unique=map", "listMapKey=name"] },
      { a: items("x", "y", "x") },
      undefined,
      ['spec.a[2]: Duplicate value: {"name":"x"}'],
    ],
    [
      "in each item",
      { "a []Item": [] },
      { a: [{ name: "x", value: "long" }] },
      undefined,
      ["spec.a[0].value: Too long: may not be more than 3 bytes"],
    ],
    [
      "in each value",
      { "a []string": ["eachVal=maxBytes=1"] },
      { a: ["x", "yy"] },
      undefined,
      ["spec.a[1]: Too long: may not be more than 1 byte"],
    ],
    ["gate on", { a: ["ifEnabled(On)=forbidden"] }, { a: "x" }, undefined, ["spec.a: Forbidden"]],
    ["gate off", { a: ["ifEnabled(Off)=forbidden", "ifDisabled(On)=forbidden"] }, { a: "x" }, undefined, []],
    ["needed by another", { a: ['dependentRequired("b")'], b: [] }, { b: "x" }, undefined, ["spec.a: Required value"]],
    ["one of a union", { a: ["unionMember"], b: ["unionMember"] }, { a: "x" }, undefined, []],
    [
      "none of a union",
      { a: ["unionMember"], b: ["unionMember"] },
      {},
      undefined,
      ['spec: Invalid value: "": must specify one of: `a`, `b`'],
    ],
    [
      "both of a union",
      { a: ["unionMember"], b: ["unionMember"] },
      { a: "x", b: "y" },
      undefined,
      ['spec: Invalid value: "{a, b}": must specify exactly one of: `a`, `b`'],
    ],
    ["changed", { a: ["immutable"] }, { a: "y" }, { a: "x" }, ["spec.a: Invalid value: null: field is immutable"]],
    ["taken away", { a: ["immutable"] }, {}, { a: "x" }, ["spec.a: Invalid value: null: field is immutable"]],
    ["set later", { a: ["update=NoModify"] }, { a: "y" }, {}, []],
    [
      "set later against the rule",
      { a: ["update=NoSet"] },
      { a: "y" },
      {},
      ["spec.a: Invalid value: null: field cannot be set once created"],
    ],
    ["wrong, but as it was", { a: ["maxLength=2"], b: [] }, { a: "abc", b: "new" }, { a: "abc" }, []],
    [
      "wrong item, but as it was",
      { "a []Item": ["unique=map", "listMapKey=name"] },
      { a: [{ name: "y" }, { name: "x", value: "long" }] },
      { a: [{ name: "x", value: "long" }] },
      [],
    ],
  ];
  test.each(cases)("%s", (_, fields, object, old, expected) => {
    expect(said(fields, object, old)).toEqual(expected);
  });

  test.each([
    ["k8s-short-name", "a-1", "A.b"],
    ["k8s-long-name", "a.b", "A.b"],
    ["k8s-long-name-caseless", "A.b", "a_b"],
    ["k8s-label-key", "example.com/a", "a b"],
    ["k8s-path-segment-name", "A b", "a/b"],
    ["k8s-resource-pool-name", "a/b.c", "a//b"],
    ["k8s-uuid", "11111111-1111-1111-1111-111111111111", "11111111111111111111111111111111"],
  ])("the format %s allows %p and not %p", (format, good, bad) => {
    expect(said({ a: [`format=${format}`] }, { a: good })).toEqual([]);
    expect(said({ a: [`format=${format}`] }, { a: bad })).toHaveLength(1);
  });

  test("a type without rules is not looked at", () => {
    const schema = new TypeSchemas({ T: { fields: [{ n: "a", t: "string" }] } }).struct("T");
    expect(rules.judge(schema, { a: "x" }, undefined)).toBeUndefined();
  });

  test("every marker of the built-in types is understood", () => {
    const all = Object.values(types as unknown as Record<string, { fields?: FieldEntry[] }>)
      .flatMap(({ fields = [] }) => fields)
      .flatMap(({ dv = [] }) => dv);
    expect(all.length).toBeGreaterThan(200);
    const silent = new Set(all.filter((marker) => parseMarker(marker) === undefined));
    expect([...silent]).toEqual(["listType=atomic"]);
  });
});

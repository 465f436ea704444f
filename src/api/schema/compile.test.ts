import { describe, expect, test } from "bun:test";
import { TypeSchemas } from "./compile.ts";

const types = new TypeSchemas({
  "t.Node": {
    fields: [
      { n: "", t: "meta/v1.TypeMeta", inline: 1 },
      { n: "name", t: "string", num: 1, req: 1 },
      { n: "", t: "t.Common", inline: 1, num: 2 },
      { n: "children", t: "[]t.Node", num: 3, oe: 1, ps: "merge,retainKeys", pk: "name", lt: "map", lk: ["name"] },
      { n: "sizes", t: "t.Sizes", num: 4, oe: 1, mt: "atomic" },
    ],
  },
  "t.Common": { fields: [{ n: "mode", t: "t.Mode", num: 7, oe: 1, def: "On" }] },
  "t.Mode": { of: "string", values: ["On", "Off"] },
  "t.Sizes": { of: "map[string]resource.Quantity" },
  "resource.Quantity": { special: 1 },
  "t.Unknown": { special: 1 },
});

describe("compiling generated types", () => {
  const node = types.struct("t.Node");

  test("merges inline structs in place and leaves the type's own fields out", () => {
    expect([...node.fields.keys()]).toEqual(["name", "mode", "children", "sizes"]);
    expect(node.typeMeta).toBe(true);
  });
  test("remembers which struct protobuf nests", () => {
    expect(node.fields.get("mode")).toMatchObject({ protoInlined: true, number: 7, default: "On" });
    expect(node.protoInline.get(2)).toBe(types.struct("t.Common"));
    expect([...node.protoInline.keys()]).toEqual([2]);
  });
  test("resolves a type that refers to itself to the same schema", () => {
    const children = node.fields.get("children");
    expect(children?.schema.kind === "list" && children.schema.items === node).toBe(true);
    expect(children).toMatchObject({ patchStrategy: ["merge", "retainKeys"], patchMergeKey: "name", listType: "map" });
  });
  test("resolves aliases, closed sets and types with their own form", () => {
    expect(node.fields.get("mode")?.schema).toEqual({
      kind: "scalar",
      scalar: "string",
      goType: "t.Mode",
      values: ["On", "Off"],
    });
    expect(node.fields.get("sizes")?.schema).toEqual({
      kind: "map",
      goType: "t.Sizes",
      values: { kind: "scalar", scalar: "quantity", typeName: "resource.Quantity" },
    });
    expect(node.fields.get("sizes")?.mapType).toBe("atomic");
  });
  test("refuses what is not a known struct", () => {
    expect(() => types.struct("t.Sizes")).toThrow("not a struct");
    expect(() => types.resolve("t.Unknown")).toThrow("its own JSON form");
    expect(() => types.resolve("t.Missing")).toThrow("not in the generated data");
  });
});

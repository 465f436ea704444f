import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../json.ts";
import { TypeSchemas } from "./compile.ts";
import { applyDefaults } from "./defaults.ts";

const types = new TypeSchemas(
  {
    "t.Tree": {
      fields: [
        { n: "mode", t: "string", oe: 1, def: "On" },
        { n: "flag", t: "bool", ptr: 1, oe: 1, def: true },
        { n: "empty", t: "string", oe: 1, def: "" },
        { n: "options", t: "t.Options", ptr: 1, oe: 1, def: {} },
        { n: "left", t: "t.Tree", ptr: 1, oe: 1 },
        { n: "list", t: "[]t.Tree", oe: 1 },
        { n: "map", t: "map[string]t.Tree", oe: 1 },
      ],
    },
    "t.Options": {
      fields: [
        { n: "size", t: "int32", oe: 1 },
        { n: "double", t: "int32", oe: 1 },
      ],
    },
  },
  new Map([
    [
      "t.Options",
      (options: JsonObject) => {
        options["double"] ??= Number(options["size"] ?? 1) * 2;
      },
    ],
  ]),
);
const defaulted = (object: JsonObject) => {
  applyDefaults(types.struct("t.Tree"), object);
  return object;
};
const all = { mode: "On", flag: true, options: { double: 2 } };

describe("defaults of a schema", () => {
  test("fill in what is absent, then run the rule of each part", () => {
    expect(defaulted({})).toEqual(all);
    expect(defaulted({ mode: null as never, options: { size: 3 } })).toEqual({
      ...all,
      options: { size: 3, double: 6 },
    });
  });
  test("respect zero behind a pointer and replace it elsewhere", () => {
    expect(defaulted({ flag: false, mode: "" })).toEqual({ ...all, flag: false });
  });
  test("reach nested structs, lists and maps", () => {
    expect(defaulted({ left: {}, list: [{}], map: { __proto__x: {} } })).toEqual({
      ...all,
      left: all,
      list: [all],
      map: { __proto__x: all },
    });
  });
  test("are copies", () => {
    const first = defaulted({})["options"] as JsonObject;
    first["size"] = 9;
    expect(defaulted({})).toEqual(all);
  });
});

test("parts that a settled object has too are skipped", () => {
  const part = { mode: "Off" };
  const settled = { list: [part, { mode: "Off" }], left: part } as JsonObject;
  const object = { list: [part, { mode: "On" }], left: part, map: { a: part } } as JsonObject;
  applyDefaults(types.struct("t.Tree"), object, { ...settled, map: {} });
  expect(object).toEqual({ ...all, list: [part, all], left: part, map: { a: part } });
  expect(part).toEqual({ ...all, mode: "Off" });
});

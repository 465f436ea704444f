import { expect, test } from "bun:test";
import type { JsonObject } from "../json.ts";
import { TypeSchemas } from "./compile.ts";
import { GatedFields } from "./gated-fields.ts";

const types = new TypeSchemas({
  Root: { fields: [{ n: "spec", t: "Spec" }] },
  Spec: {
    fields: [
      { n: "plain", t: "string" },
      { n: "first", t: "string", gate: "On" },
      { n: "second", t: "string", gate: "Off" },
      { n: "both", t: "string", gate: "On,Off" },
      { n: "items", t: "[]Item" },
      { n: "byName", t: "map[string]Item" },
    ],
  },
  Item: {
    fields: [
      { n: "name", t: "string" },
      { n: "secret", t: "Spec", ptr: 1, gate: "Off" },
      { n: "child", t: "Item", ptr: 1 },
    ],
  },
});
const schema = types.struct("Root");
const fields = new GatedFields((gate) => gate === "On");

function dropped(object: JsonObject, old?: JsonObject): JsonObject {
  fields.drop(schema, object, old);
  return object;
}

test("fields behind a gate that is off are taken out, at any depth", () => {
  const item = () => ({ name: "a", secret: { plain: "x" }, child: { name: "b", secret: {} } });
  const spec = { plain: "p", first: "1", second: "2", both: "3", items: [item()], byName: { k: item() } };
  const left = { name: "a", child: { name: "b" } };
  expect(dropped({ spec })).toEqual({ spec: { plain: "p", first: "1", items: [left], byName: { k: left } } });
});

test("a field that the stored object uses anywhere stays", () => {
  const old = { spec: { items: [{ name: "a", secret: {} }] } };
  const object = { spec: { second: "2", items: [{ name: "a" }, { name: "b", secret: { plain: "x" } }] } };
  expect(dropped(object, old)).toEqual({ spec: { items: [{ name: "a" }, { name: "b", secret: { plain: "x" } }] } });
});

test("a type with no such field is not looked at", () => {
  const all = new GatedFields(() => true);
  const object = { spec: { second: "2" } };
  all.drop(schema, object, undefined);
  expect(object).toEqual({ spec: { second: "2" } });
});

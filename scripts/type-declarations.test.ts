import { expect, test } from "bun:test";
import type { TypeEntries } from "../src/api/schema/compile.ts";
import { typeDeclarations } from "./type-declarations.ts";

const meta: TypeEntries = {
  "meta/v1.ObjectMeta": { fields: [{ n: "generation", t: "int64", oe: 1 }] },
  "meta/v1.Time": { special: 1 },
  "meta/v1.TypeMeta": { fields: [{ n: "kind", t: "string", oe: 1 }] },
};
const typeMeta = { n: "", t: "meta/v1.TypeMeta", inline: 1 } as const;

function membersOf(types: TypeEntries, name: string): string[] {
  const text = typeDeclarations({ ...meta, ...types }).get("a/v1") ?? "";
  const [, body = ""] = text.split(`export type ${name} = {\n`);
  return (body.split("\n};")[0] ?? "").split("\n").map((line) => line.trim());
}

test("a member is optional where JSON may leave it out, and null where Go's nil is written", () => {
  const fields = [
    { n: "text", t: "string" },
    { n: "texts", t: "[]string" },
    { n: "maybe", t: "[]string", oe: 1 },
    { n: "pointer", t: "int32", ptr: 1 },
    { n: "count", t: "int64", ptr: 1, oe: 1 },
    { n: "time", t: "meta/v1.Time", oe: 1 },
    { n: "given", t: "meta/v1.Time", oz: 1 },
    { n: "lists", t: "map[string][]string", oe: 1 },
    { n: "a-b", t: "any" },
  ] as const;
  expect(membersOf({ "a/v1.A": { fields } }, "A")).toEqual([
    "text: string;",
    "texts: string[] | null;",
    "maybe?: string[];",
    "pointer: number | null;",
    "count?: number | bigint;",
    "time?: metaV1.Time | null;",
    "given?: metaV1.Time;",
    "lists?: Record<string, string[] | null>;",
    '"a-b": JsonValue;',
  ]);
});

test("an object has kind and apiVersion, unless it is part of another document", () => {
  const types: TypeEntries = {
    "a/v1.A": { fields: [typeMeta, { n: "metadata", t: "meta/v1.ObjectMeta", oe: 1 }] },
    "a/v1.AList": { fields: [typeMeta, { n: "items", t: "[]a/v1.A" }] },
  };
  expect(membersOf(types, "A")).toEqual(["kind: string;", "apiVersion: string;", "metadata: metaV1.ObjectMeta;"]);
  expect(membersOf(types, "AList")).toEqual(["kind?: string;", "apiVersion?: string;", "items: Embedded<A>[] | null;"]);
});

test("members of an inlined struct stand in its place", () => {
  const types: TypeEntries = {
    "a/v1.Inner": { fields: [{ n: "x", t: "bool", oe: 1 }] },
    "a/v1.Outer": {
      fields: [
        { n: "", t: "a/v1.Inner", inline: 1, num: 1 },
        { n: "y", t: "bytes", oe: 1 },
      ],
    },
  };
  expect(membersOf(types, "Outer")).toEqual(["x?: boolean;", "y?: string;"]);
});

test("a closed set is a note, for decoding lets other values through", () => {
  const text = typeDeclarations({ "a/v1.Phase": { of: "string", values: ["On", "Off"] } }).get("a/v1");
  expect(text).toContain('/** One of "On", "Off". */\nexport type Phase = string;\n');
});

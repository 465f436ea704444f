import { expect, test } from "bun:test";
import protobuf from "protobufjs";
import { toText } from "../../api/codec/byte-text.ts";
import type { Entry } from "../../api/entry.ts";
import type { JsonObject } from "../../api/json.ts";
import { toRevision } from "../../api/revision.ts";
import { builtInCatalog } from "../../kinds/built-in-catalog.ts";
import { convertNothing } from "../../kinds/custom/custom-converter.ts";
import { customEntry } from "../../kinds/custom/custom-kind.ts";
import { readDefinition } from "../../kinds/custom/definition.ts";
import { Scheme } from "../../kinds/scheme.ts";
import type { CatalogEntry } from "../../registry/catalog.ts";
import { EncodedDocuments } from "./encoded-documents.ts";

const scheme = Scheme.builtIn();

function documentsOf(...entries: CatalogEntry[]) {
  const catalog = builtInCatalog(scheme);
  for (const entry of entries) catalog.add(entry);
  const documents = new EncodedDocuments({ catalog, typeOf: (name) => scheme.typeSchema(name), version: "v1.36.0" });
  return { catalog, documents };
}

function custom(group: string, spec: JsonObject = {}): CatalogEntry {
  const names = { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" };
  const openAPIV3Schema = { type: "object", properties: { spec } };
  const body = {
    spec: {
      group,
      scope: "Namespaced",
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }],
    },
    status: { acceptedNames: names, conditions: [{ type: "Established", status: "True" }] },
  };
  const entry: Entry = {
    key: `/registry/${group}`,
    revision: toRevision(2),
    createRevision: toRevision(2),
    index: { apiVersion: "apiextensions.k8s.io/v1", uid: "", labels: undefined, fields: undefined, owners: undefined },
    body: Buffer.from(JSON.stringify(body)),
  };
  return customEntry(readDefinition(entry), convertNothing) as CatalogEntry;
}

test("requests that come while a document is made get the same one", async () => {
  const { documents } = documentsOf();
  const [first, second] = await Promise.all([documents.v2(), documents.v2()]);
  expect(second).toBe(first);
  expect((await documents.v2()).bytes).toBe(first.bytes);
});

test("other work gets turns while a long document is made", async () => {
  const { documents } = documentsOf();
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await documents.v2();
  isDone = true;
  expect(turns).toBeGreaterThan(2);
});

test("documents follow the kinds that are served", async () => {
  const { catalog, documents } = documentsOf();
  const before = await documents.index();
  expect(documents.v3("apis/example.com/v1")).toBeUndefined();
  const entry = custom("example.com");
  catalog.add(entry);
  expect(JSON.parse(toText((await documents.v2()).bytes)).definitions).toHaveProperty(["com.example.v1.Widget"]);
  expect(JSON.parse(toText((await documents.index()).bytes)).paths).toHaveProperty(["apis/example.com/v1"]);
  catalog.remove(entry);
  expect(documents.v3("apis/example.com/v1")).toBeUndefined();
  expect(await documents.index()).toEqual(before);
});

test("a document whose bytes were dropped is made again with the same content", async () => {
  const text = { type: "string", description: "x".repeat(6 * 1024 * 1024) };
  const groups = ["a.example.com", "b.example.com", "c.example.com"];
  const { documents } = documentsOf(...groups.map((group) => custom(group, text)));
  const fetch = (group = "") => documents.v3(`apis/${group}/v1`);
  const first = await fetch(groups[0]);
  for (const group of groups.slice(1)) await fetch(group);
  const again = await fetch(groups[0]);
  expect(again?.bytes).not.toBe(first?.bytes);
  expect(again?.hash).toBe(first?.hash as string);
});

test("the protobuf form has a field for everything that the schema of a custom kind may say", async () => {
  const spec: JsonObject = {
    type: "object",
    title: "T",
    externalDocs: { url: "https://example.com", description: "D" },
    example: { a: 1 },
    minProperties: 1,
    maxProperties: 9,
    required: ["number"],
    properties: {
      number: {
        type: "number",
        minimum: -1.5,
        maximum: 2,
        exclusiveMinimum: true,
        exclusiveMaximum: true,
        multipleOf: 0.5,
      },
      text: { type: "string", minLength: 1, maxLength: 5, pattern: "^a", format: "date", enum: ["a"] },
      list: { type: "array", minItems: 1, maxItems: 3, uniqueItems: false, items: { type: "string" } },
      map: { type: "object", additionalProperties: { type: "integer" } },
      open: { type: "object", additionalProperties: true },
      either: { "x-kubernetes-int-or-string": true },
    },
    "x-kubernetes-validations": [{ rule: "true" }],
  };
  const { documents } = documentsOf(custom("example.com", spec));
  const { bytes } = await documents.v2Protobuf();
  const document = schemaReader().decode(bytes).toJSON() as any;
  const widget = document.definitions.items.find(({ name }: any) => name === "com.example.v1.Widget").value;
  const valueOf = (properties: any, wanted: string) => properties.items.find(({ name }: any) => name === wanted).value;
  const read = valueOf(widget.properties, "spec");
  expect(read).toMatchObject({ title: "T", minProperties: "1", maxProperties: "9", example: { yaml: '{"a":1}' } });
  const number = { minimum: -1.5, maximum: 2, exclusiveMinimum: true, exclusiveMaximum: true, multipleOf: 0.5 };
  expect(valueOf(read.properties, "number")).toMatchObject(number);
  expect(valueOf(read.properties, "text")).toMatchObject({ minLength: "1", maxLength: "5", pattern: "^a" });
  expect(valueOf(read.properties, "list")).toMatchObject({ minItems: "1", maxItems: "3" });
  expect(valueOf(read.properties, "open")).toMatchObject({ additionalProperties: { boolean: true } });
});

/** The part of openapi.v2 that the test reads, declared apart from the encoder. */
function schemaReader(): protobuf.Type {
  const { root } = protobuf.parse(`syntax = "proto3";
    message Any { string yaml = 2; }
    message NamedSchema { string name = 1; Schema value = 2; }
    message Properties { repeated NamedSchema items = 1; }
    message Additional { Schema schema = 1; bool boolean = 2; }
    message Schema { string title = 3; double multipleOf = 6; double maximum = 7; bool exclusiveMaximum = 8;
      double minimum = 9; bool exclusiveMinimum = 10; int64 maxLength = 11; int64 minLength = 12; string pattern = 13;
      int64 maxItems = 14; int64 minItems = 15; bool uniqueItems = 16; int64 maxProperties = 17; int64 minProperties = 18;
      Additional additionalProperties = 21; Properties properties = 25; Any example = 30; }
    message Document { Properties definitions = 9; }`);
  return root.lookupType("Document");
}

import { expect, test } from "bun:test";
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
import { type EncodedDocument, EncodedDocuments } from "./encoded-documents.ts";
import { decodedDocument, sayable } from "./testing.ts";

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
    metadata: { name: group },
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
      empty: { type: "string", nullable: true, default: "" },
      off: { type: "boolean", default: false },
      none: { type: "integer", default: 0 },
      pair: { type: "array", default: [1], items: { type: "number" } },
      default: { type: "object", default: { a: 1 }, properties: { a: { type: "integer" } } },
      one: { type: "integer", not: { enum: [3] }, oneOf: [{ minimum: 1 }], anyOf: [{ maximum: 2 }], allOf: [{}] },
    },
    "x-kubernetes-validations": [{ rule: "true" }],
  };
  const { documents } = documentsOf(custom("example.com", spec));
  await sameInBothForms("v3", documents.v3("apis/example.com/v1"), documents.v3Protobuf("apis/example.com/v1"));
  await sameInBothForms("v2", documents.v2(), documents.v2Protobuf());
}, 60_000);

test("every document says the same in its protobuf form", async () => {
  const { documents } = documentsOf();
  const { paths } = JSON.parse(toText((await documents.index()).bytes));
  expect(Object.keys(paths)).toContain("apis/apps/v1");
  for (const key of Object.keys(paths)) {
    await sameInBothForms("v3", documents.v3(key), documents.v3Protobuf(key));
  }
  expect(documents.v3Protobuf("apis/example.com/v1")).toBeUndefined();
}, 60_000);

type Answer = Promise<EncodedDocument> | undefined;

async function sameInBothForms(version: "v2" | "v3", json: Answer, protobuf: Answer): Promise<void> {
  const [expected, written] = [await json, await protobuf];
  if (expected === undefined || written === undefined) throw new Error("there is no such document");
  expect(written.hash).toBe(expected.hash);
  expect(decodedDocument(version, written.bytes)).toEqual(sayable(JSON.parse(toText(expected.bytes)), version));
}

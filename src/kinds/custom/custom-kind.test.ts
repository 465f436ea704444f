import { describe, expect, test } from "bun:test";
import type { Entry } from "../../api/entry.ts";
import type { JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { toRevision } from "../../api/revision.ts";
import type { ResourceInfo } from "../../api/scheme/resource.ts";
import { CustomConverter, convertNothing } from "./custom-converter.ts";
import { customEntry } from "./custom-kind.ts";
import { readDefinition } from "./definition.ts";

function entryOf(body: object): Entry {
  return {
    key: "/registry/apiextensions.k8s.io/customresourcedefinitions/widgets.example.com",
    revision: toRevision(2),
    createRevision: toRevision(2),
    index: { apiVersion: "apiextensions.k8s.io/v1", uid: "", labels: undefined, fields: undefined, owners: undefined },
    body: Buffer.from(JSON.stringify(body)),
  };
}

function version(name: string, storage: boolean, properties: JsonObject, more: JsonObject = {}): JsonObject {
  const openAPIV3Schema = { type: "object", properties: { spec: { type: "object", properties } } };
  return { name, served: true, storage, schema: { openAPIV3Schema }, ...more };
}

function kindOf(...versions: JsonObject[]) {
  const names = { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" };
  const definition = readDefinition(
    entryOf({
      metadata: { name: "widgets.example.com" },
      spec: { group: "example.com", scope: "Namespaced", names, versions },
      status: { acceptedNames: names, conditions: [{ type: "Established", status: "True" }] },
    }),
  );
  const entry = customEntry(definition, convertNothing);
  if (entry === undefined) throw new Error("no version is stored");
  return { definition, entry, infos: new Map(entry.served.map((info) => [info.version, info])) };
}

function widget(apiVersion: string, spec: JsonObject): KubeObject {
  return { apiVersion, kind: "Widget", metadata: { name: "a" }, spec };
}

const color = { type: "string", default: "blue" };

describe("customEntry()", () => {
  test("describes every served version, and the one that is stored", () => {
    const { entry, definition } = kindOf(
      version("v1", true, { color }, { subresources: { status: {} } }),
      version("v1beta1", false, {}, { deprecated: true }),
      { ...version("v1alpha1", false, {}), served: false },
    );
    expect(definition.isEstablished).toBe(true);
    expect(entry.stored).toMatchObject({ version: "v1", keyPrefix: "/registry/example.com/widgets/" });
    expect(entry.served.map((info) => info.version)).toEqual(["v1", "v1beta1"]);
    expect(entry.served.map((info) => [...info.subresources.keys()])).toEqual([["status"], []]);
    expect(entry.served[1]?.deprecation?.warning).toBe(
      "example.com/v1beta1 Widget is deprecated; use example.com/v1 Widget",
    );
  });

  test("has another fingerprint for a new spec and for new names, but not for new conditions", () => {
    const fingerprint = (generation: number, plural: string, established: string) =>
      readDefinition(
        entryOf({
          metadata: { name: "widgets.example.com", uid: "5e7c", generation },
          spec: { group: "example.com", scope: "Namespaced", names: { plural, kind: "Widget" }, versions: [] },
          status: {
            acceptedNames: { plural, kind: "Widget" },
            conditions: [{ type: "Established", status: established }],
          },
        }),
      ).fingerprint;
    expect(fingerprint(1, "widgets", "True")).toBe(fingerprint(1, "widgets", "False"));
    expect(fingerprint(2, "widgets", "True")).not.toBe(fingerprint(1, "widgets", "True"));
    expect(fingerprint(1, "gadgets", "True")).not.toBe(fingerprint(1, "widgets", "True"));
  });
});

describe("the form of a version", () => {
  test("prunes, reports what it does not know, and fills in defaults", () => {
    const form = kindOf(version("v1", true, { color })).infos.get("v1")?.form as ResourceInfo["form"];
    const document = { metadata: { name: "a", nope: 1 }, spec: { size: 1 }, other: {} };
    const { object, unknownFields } = form.decode(document, { kind: "Widget" });
    form.applyDefaults(object);
    expect(object).toEqual({ metadata: { name: "a" }, spec: { color: "blue" } });
    expect(unknownFields).toEqual(["metadata.nope", "other", "spec.size"]);
  });
});

describe("CustomConverter", () => {
  const { infos } = kindOf(
    version("v1", true, { color }),
    version("v2", false, { size: { type: "integer", default: 3 } }),
  );
  const [v1, v2] = [infos.get("v1"), infos.get("v2")] as [ResourceInfo, ResourceInfo];
  const converter = new CustomConverter(convertNothing);

  test("shows an object by the schema of the version, with its defaults", async () => {
    const [shown] = await converter.convert([widget("example.com/v1", { color: "red" })], v2);
    expect(shown).toMatchObject({ apiVersion: "example.com/v2", spec: { size: 3 } });
  });

  test("stores an object without the defaults of the stored version", async () => {
    const stored = await converter.forStorage(widget("example.com/v2", { size: 1 }), v1);
    expect(stored).toEqual(widget("example.com/v1", {}));
  });

  test("serves a body as it is where the same schema has completed it", () => {
    const id = v1.form.kind === "structural" ? v1.form.id : "";
    const { index, ...rest } = entryOf({});
    const entry = { ...rest, index: { ...index, apiVersion: "example.com/v1", form: id } };
    expect(converter.servesBody(entry, v1)).toBe(true);
    expect(converter.servesBody(entry, v2)).toBe(false);
  });
});

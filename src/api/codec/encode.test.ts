import { describe, expect, test } from "bun:test";
import { Scheme } from "../../kinds/scheme.ts";
import type { Entry } from "../entry.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { toRevision } from "../revision.ts";
import type { Field, ScalarKind, Schema, StructSchema } from "../schema/schema.ts";
import { structForm, structOf } from "../scheme/object-form.ts";
import type { ResourceInfo } from "../scheme/resource.ts";
import { successStatus } from "../status.ts";
import { toBytes, toText } from "./byte-text.ts";
import { decodeCbor, encodeCbor } from "./cbor.ts";
import { encodedListLength, encodeList } from "./encode-list.ts";
import { encodeObject, encodeStatus } from "./encode-object.ts";
import { frameEncoder } from "./encode-watch.ts";
import { metaSchema } from "./meta-schema.ts";
import { decodeMessage, unwrapUnknown } from "./protobuf.ts";
import { plainJson, type Representation } from "./representation.ts";
import { parseYaml } from "./yaml.ts";
import { zeroObject } from "./zero-object.ts";

const nowMs = Date.UTC(2026, 0, 2);
const clock = { nowMs: () => nowMs, steadyMs: () => nowMs, after: neverCalled, every: neverCalled };
const partial: Representation = {
  ...plainJson,
  transform: { kind: "partialMetadata", list: false, version: "v1" },
};
const table: Representation = {
  ...plainJson,
  transform: { kind: "table", version: "v1", includeObject: "Metadata" },
};
const pretty: Representation = { ...plainJson, pretty: true };
const info = podInfo();

describe("encodeObject()", () => {
  test("puts the type before the stored bytes", () => {
    expect(toText(encodeObject(pod("a"), info, plainJson, nowMs))).toBe(
      `{"kind":"Pod","apiVersion":"v1","metadata":${metadata("a")},"spec":{"nodeName":"n1"}}\n`,
    );
  });

  test("leaves everything but metadata out of PartialObjectMetadata", () => {
    expect(toText(encodeObject(pod("a"), info, partial, nowMs))).toBe(
      `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":${metadata("a")}}\n`,
    );
  });

  test("finds the end of metadata behind braces and quotes in annotations", () => {
    const text = `{"name":"a","annotations":{"x":"}}\\"{","y":"\\\\"}}`;
    const entry = entryOf("a", `{"metadata":${text},"spec":{}}`);
    expect(toText(encodeObject(entry, info, partial, nowMs))).toContain(`"metadata":${text}}\n`);
  });

  test("indents with two spaces and ends without a newline when pretty", () => {
    const text = toText(encodeObject(pod("a"), info, pretty, nowMs));
    expect(text.startsWith('{\n  "kind": "Pod",\n  "apiVersion": "v1",\n  "metadata": {\n')).toBe(true);
    expect(text.endsWith("}")).toBe(true);
  });

  test("makes a table of one row", () => {
    const document = JSON.parse(toText(encodeObject(pod("a"), info, table, nowMs)));
    expect(document).toMatchObject({ kind: "Table", apiVersion: "meta.k8s.io/v1", metadata: { resourceVersion: "7" } });
    expect(document.rows).toHaveLength(1);
    expect(document.rows[0].cells[0]).toBe("a");
    expect(document.rows[0].object.kind).toBe("PartialObjectMetadata");
  });
});

describe("encodeList()", () => {
  const list = (entries: Entry[], representation = plainJson, rest = {}) =>
    toText(Buffer.concat([...encodeList({ entries, revision: toRevision(9), ...rest }, info, representation, nowMs)]));

  test("writes an empty list with empty items", () => {
    expect(list([])).toBe('{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[]}\n');
  });

  test("writes items without their type", () => {
    const item = (name: string) => `{"metadata":${metadata(name)},"spec":{"nodeName":"n1"}}`;
    expect(list([pod("a"), pod("b")], plainJson, { continue: "t", remaining: 3 })).toBe(
      `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9","continue":"t","remainingItemCount":3},"items":[${item("a")},${item("b")}]}\n`,
    );
  });

  test("indents like the standard library would", () => {
    for (const entries of [[], [pod("a")], [pod("a"), pod("b")]]) {
      const compact = JSON.parse(list(entries));
      const expected = JSON.stringify(compact, undefined, 2);
      expect(list(entries, pretty)).toBe(expected);
    }
  });

  test("gives every item of a metadata list its type", () => {
    const document = JSON.parse(list([pod("a"), pod("b")], partial));
    expect(document.kind).toBe("PartialObjectMetadataList");
    expect(document.items.map((item: { kind: string }) => item.kind)).toEqual([
      "PartialObjectMetadata",
      "PartialObjectMetadata",
    ]);
  });

  test("makes a table with a row for each object", () => {
    const document = JSON.parse(list([pod("a"), pod("b")], table, { continue: "t" }));
    expect(document.metadata).toEqual({ resourceVersion: "9", continue: "t" });
    expect(document.columnDefinitions[0].name).toBe("Name");
    expect(document.rows.map((row: { cells: string[] }) => row.cells[0])).toEqual(["a", "b"]);
  });

  test("knows its length beforehand if it consists of stored bodies", () => {
    for (const count of [0, 1, 2, 7]) {
      const entries = Array.from({ length: count }, (_, at) => pod(`pod-${at}-ä`));
      const page = { entries, revision: toRevision(9), continue: "t", remaining: 3 };
      const body = Buffer.concat([...encodeList(page, info, plainJson, nowMs)]);
      expect(encodedListLength(page, info, plainJson)).toBe(body.byteLength);
      for (const other of [pretty, partial, table]) expect(encodedListLength(page, info, other)).toBeUndefined();
    }
  });

  test("copies no stored body, and makes each piece when it is asked for", () => {
    const entries = Array.from({ length: 50 }, (_, at) => pod(`pod-${at}`));
    const pieces = new Set(encodeList({ entries, revision: toRevision(9) }, info, plainJson, nowMs));
    for (const { body } of entries) expect(pieces.has(body)).toBe(true);
    let asked = 0;
    const unread = new Proxy(entries, { get: (target, name) => (asked++, Reflect.get(target, name)) });
    expect(encodeList({ entries: unread, revision: toRevision(9) }, info, plainJson, nowMs)).toBeDefined();
    expect(asked).toBe(0);
  });
});

describe("frameEncoder()", () => {
  const textOf = (bytes: Uint8Array) => toText(bytes);

  test("writes one line per event", () => {
    const encoder = frameEncoder(info, plainJson, clock);
    expect(textOf(encoder.event("ADDED", pod("a")))).toBe(
      `{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":${metadata("a")},"spec":{"nodeName":"n1"}}}\n`,
    );
  });

  test("writes a bookmark with the fields that an empty object has", () => {
    const encoder = frameEncoder(info, plainJson, clock);
    expect(textOf(encoder.bookmark(toRevision(12), true))).toBe(
      '{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"12","annotations":{"k8s.io/initial-events-end":"true"}},"spec":{"containers":null},"status":{}}}\n',
    );
    expect(textOf(encoder.bookmark(toRevision(13), false))).not.toContain("annotations");
  });

  test("writes metadata alone for a metadata watch", () => {
    const encoder = frameEncoder(info, partial, clock);
    expect(JSON.parse(textOf(encoder.event("DELETED", pod("a"))))).toEqual({
      type: "DELETED",
      object: { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: JSON.parse(metadata("a")) },
    });
    expect(JSON.parse(textOf(encoder.bookmark(toRevision(5), false))).object.kind).toBe("PartialObjectMetadata");
  });

  test("sends the columns of a table once per stream", () => {
    const encoder = frameEncoder(info, table, clock);
    const first = JSON.parse(textOf(encoder.event("ADDED", pod("a")))).object;
    const second = JSON.parse(textOf(encoder.event("MODIFIED", pod("a")))).object;
    expect(first.columnDefinitions).toHaveLength(1);
    expect(second.columnDefinitions).toBeNull();
    expect(encoder.format).toBe("");
  });

  test("shares frames between plain watches of one type", () => {
    expect(frameEncoder(info, plainJson, clock).format).toBe(frameEncoder(info, plainJson, clock).format);
    expect(frameEncoder(info, plainJson, clock).format).not.toBe(frameEncoder(info, partial, clock).format);
  });
});

describe("protobuf", () => {
  const pods = Scheme.builtIn().find("", "v1", "pods") as ResourceInfo;
  const binary: Representation = { ...plainJson, mediaType: "application/vnd.kubernetes.protobuf" };
  const binaryPartial: Representation = { ...partial, mediaType: "application/vnd.kubernetes.protobuf" };
  const read = (schema: StructSchema, raw: Uint8Array) => JSON.parse(JSON.stringify(decodeMessage(schema, raw)));

  test("carries a single object in an envelope of its kind", () => {
    const { kind, apiVersion, raw } = unwrapUnknown(encodeObject(pod("a"), pods, binary, nowMs));
    expect([kind, apiVersion]).toEqual(["Pod", "v1"]);
    expect(read(structOf(pods), raw)).toMatchObject({ metadata: { name: "a" }, spec: { nodeName: "n1" } });
  });

  test("carries a list of objects, and of metadata", () => {
    const page = { entries: [pod("a"), pod("b")], revision: toRevision(9) };
    for (const [representation, listKind, list] of [
      [binary, "PodList", "core/v1.PodList"],
      [binaryPartial, "PartialObjectMetadataList", "meta/v1.PartialObjectMetadataList"],
    ] as const) {
      const bytes = Buffer.concat([...encodeList(page, pods, representation, nowMs)]);
      const { kind, raw, contentType } = unwrapUnknown(bytes);
      expect([kind, contentType]).toEqual([listKind, ""]);
      const document = read(metaSchema(list), raw);
      expect(document.metadata.resourceVersion).toBe("9");
      expect(document.items.map((item: JsonObject) => (item["metadata"] as JsonObject)["name"])).toEqual(["a", "b"]);
    }
  });

  test("frames events with their length", () => {
    const frames = frameEncoder(pods, binary, clock);
    for (const frame of [
      frames.event("ADDED", pod("a")),
      frames.bookmark(toRevision(12), true),
      frames.error(successStatus()),
    ]) {
      expect(new DataView(frame.buffer, frame.byteOffset).getUint32(0)).toBe(frame.length - 4);
    }
    expect(frames.format).not.toBe(frameEncoder(pods, binaryPartial, clock).format);
  });

  test("carries a Status", () => {
    const { kind, raw } = unwrapUnknown(encodeStatus(successStatus(), binary));
    expect(kind).toBe("Status");
    expect(read(metaSchema("meta/v1.Status"), raw)).toMatchObject({ status: "Success" });
  });

  test("has the bookmark of a Pod that upstream sends", () => {
    expect(toText(frameEncoder(pods, plainJson, clock).bookmark(toRevision(3), false))).toBe(
      '{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"3"},"spec":{"containers":null},"status":{}}}\n',
    );
  });
});

describe("YAML and CBOR", () => {
  const forms: [string, Representation, (bytes: Uint8Array) => JsonValue][] = [
    ["YAML", { ...plainJson, mediaType: "application/yaml" }, (bytes) => parseYaml(bytes, { strict: true }).value],
    ["a YAML table", { ...table, mediaType: "application/yaml" }, (bytes) => parseYaml(bytes, { strict: true }).value],
    ["CBOR", { ...plainJson, mediaType: "application/cbor" }, decodeCbor],
    ["CBOR metadata", { ...partial, mediaType: "application/cbor" }, decodeCbor],
  ];
  const plain = (value: JsonValue) => JSON.parse(JSON.stringify(value));

  test.each(forms)("%s of objects and lists says the same as JSON", (_name, representation, decode) => {
    const json: Representation = { ...representation, mediaType: "application/json" };
    expect(plain(decode(encodeObject(pod("a"), info, representation, nowMs)))).toEqual(
      JSON.parse(toText(encodeObject(pod("a"), info, json, nowMs))),
    );
    for (const count of [0, 1, 30]) {
      const entries = Array.from({ length: count }, (_, at) => pod(`a${at}`));
      const page = { entries, revision: toRevision(9), continue: "t" };
      const bytes = Buffer.concat([...encodeList(page, info, representation, nowMs)]);
      const expected = Buffer.concat([...encodeList(page, info, json, nowMs)]);
      expect(plain(decode(bytes))).toEqual(JSON.parse(toText(expected)));
    }
  });

  test("a CBOR list in parts has the bytes of the whole document", () => {
    const representation: Representation = { ...plainJson, mediaType: "application/cbor" };
    const bytes = Buffer.concat([
      ...encodeList({ entries: [pod("a")], revision: toRevision(9) }, info, representation, nowMs),
    ]);
    expect(bytes).toEqual(Buffer.from(encodeCbor(decodeCbor(bytes))));
  });

  test("a CBOR watch sends one item per event", () => {
    const frames = frameEncoder(info, { ...plainJson, mediaType: "application/cbor" }, clock);
    expect(decodeCbor(frames.event("ADDED", pod("a")))).toMatchObject({ type: "ADDED", object: { kind: "Pod" } });
    expect(decodeCbor(frames.error(successStatus()))).toMatchObject({ type: "ERROR" });
  });
});

test("zeroObject() writes null for a list that is not omitted, and nothing for one that is", () => {
  expect(zeroObject(info.form)).toEqual({ metadata: {}, spec: { containers: null }, status: {} });
});

function pod(name: string): Entry {
  return entryOf(name, `{"metadata":${metadata(name)},"spec":{"nodeName":"n1"}}`);
}

function metadata(name: string): string {
  return `{"name":"${name}","namespace":"default","resourceVersion":"7"}`;
}

function entryOf(name: string, body: string): Entry {
  return {
    key: `/registry/pods/default/${name}`,
    revision: toRevision(7),
    createRevision: toRevision(7),
    index: { apiVersion: "v1", uid: "u", labels: undefined, fields: undefined, owners: undefined },
    body: toBytes(body),
  };
}

function podInfo(): ResourceInfo {
  return {
    group: "",
    version: "v1",
    kind: "Pod",
    resource: "pods",
    singular: "pod",
    listKind: "PodList",
    namespaced: true,
    verbs: ["get"],
    shortNames: [],
    categories: [],
    storageVersionHash: "",
    virtual: false,
    keyPrefix: "/registry/pods/",
    form: structForm(
      struct("core/v1.Pod", [
        field("kind", scalar("string"), { omitEmpty: true }),
        field("metadata", struct("meta/v1.ObjectMeta", [field("name", scalar("string"), { omitEmpty: true })]), {
          omitEmpty: true,
        }),
        field("spec", struct("core/v1.PodSpec", [field("containers", { kind: "list", items: scalar("any") })]), {
          omitEmpty: true,
        }),
        field("status", struct("core/v1.PodStatus", []), { omitEmpty: true }),
      ]),
    ),
    columns: [{ name: "Name", type: "string", format: "name", description: "", priority: 0 }],
    selectableFields: new Map(),
    subresources: new Map(),
  };
}

function scalar(kind: ScalarKind): Schema {
  return { kind: "scalar", scalar: kind };
}

function struct(name: string, fields: Field[]): StructSchema {
  return {
    kind: "struct",
    name,
    fields: new Map(fields.map((each) => [each.name, each])),
    atomic: false,
    preserveUnknown: false,
    protoInline: new Map(),
  };
}

function field(name: string, schema: Schema, changes: Partial<Field> = {}): Field {
  return {
    name,
    schema,
    number: 0,
    protoInlined: false,
    pointer: false,
    omitEmpty: false,
    omitZero: false,
    required: false,
    patchStrategy: [],
    patchMergeKey: undefined,
    listType: "atomic",
    listMapKeys: [],
    mapType: "granular",
    default: undefined,
    immutable: false,
    gates: [],
    ...changes,
  };
}

function neverCalled(): Disposable {
  throw new Error("not expected");
}

import { encodeCbor } from "../../src/api/codec/cbor.ts";
import type { JsonObject, JsonValue } from "../../src/api/json.ts";
import { collection, document, encodedDocument, objectName, protobufType } from "./documents.ts";
import { podCollection } from "./pods.ts";

const cborType = "application/cbor";
const yamlType = "application/yaml";
const accessReviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

/** A request with a body near the limits of size or number of values. */
export interface LargeBody {
  readonly name: string;
  readonly method: "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly type: string;
  readonly body: string | Uint8Array;
}

/** Returns one request for each decoder and patch type. Most are refused. */
export function largeBodies(): LargeBody[] {
  const post = (name: string, path: string, body: JsonValue) =>
    ({ name, method: "POST", path, type: "application/json", body: JSON.stringify(body) }) as const;
  const patch = (name: string, type: string, body: JsonValue) =>
    ({ name, method: "PATCH", path: target, type, body: JSON.stringify(body) }) as const;
  const target = `${collection}/${objectName(0)}`;
  const unknown = (count: number) => fields(count, "unknown-", 1);
  const config = (entries: number) => ({ ...document(1_000_000), data: fields(entries, "key-", "v") });
  const inCbor = (name: string, value: JsonValue) =>
    ({ name, method: "POST", path: collection, type: cborType, body: encodeCbor(value) }) as const;
  const inYaml = (name: string, body: string) =>
    ({ name, method: "POST", path: collection, type: yamlType, body }) as const;
  const manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: large}\ndata:\n";
  return [
    post("280,000 unknown fields", accessReviews, { spec: {}, ...unknown(280_000) }),
    post("unknown fields within the limit", `${accessReviews}?fieldValidation=Ignore`, {
      spec: {},
      ...unknown(60_000),
    }),
    post("a pod of 60,000 containers", podCollection, {
      metadata: { name: "large" },
      spec: { containers: list(60_000, { name: "c" }) },
    }),
    post("a pod of 20,000 containers", podCollection, {
      metadata: { name: "large" },
      spec: { containers: list(20_000, { name: "c", image: "i" }) },
    }),
    post("60,000 keys", collection, config(60_000) as unknown as JsonValue),
    post("a value of 2.9 MB", collection, { metadata: { name: "large" }, data: { value: "\u0001".repeat(480_000) } }),
    {
      name: "240,000 keys in protobuf",
      method: "POST",
      path: collection,
      type: protobufType,
      body: encodedDocument(config(240_000), protobufType),
    },
    {
      name: "60,000 keys in protobuf",
      method: "POST",
      path: collection,
      type: protobufType,
      body: encodedDocument(config(60_000), protobufType),
    },
    inCbor("250,000 keys in CBOR", fields(250_000, "k", 1)),
    inCbor("60,000 keys in CBOR", config(60_000) as unknown as JsonValue),
    inYaml("60,000 keys in YAML", manifest + Array.from({ length: 60_000 }, (_, at) => `  key-${at}: v`).join("\n")),
    inYaml("a value of 3 MB in YAML", `${manifest}  value: "${"x".repeat(3_000_000)}"`),
    inYaml("a folded value of 3 MB in YAML", `${manifest}  value: >\n${"    some words\n".repeat(190_000)}`),
    inYaml("a value of 480,000 lines in YAML", `${manifest}  value: |\n${"    a\n".repeat(480_000)}`),
    inYaml("a value of 1,400,000 escapes in YAML", `${manifest}  value: "${"\\n".repeat(1_400_000)}"`),
    inYaml("1,400,000 comments in YAML", `${manifest}${"#\n".repeat(1_400_000)}  value: v`),
    post("340,000 characters that JSON escapes", collection, {
      metadata: { name: "large" },
      data: { value: "<".repeat(340_000) },
    }),
    post("55,000 labels", collection, { metadata: { name: "large", labels: fields(55_000, "key-", "v") }, data: {} }),
    post("managedFields of 25,000 list items", collection, {
      metadata: { name: "large", managedFields: [managedItems(25_000)] },
    }),
    post("60,000 finalizers", collection, {
      metadata: { name: "large", finalizers: Array.from({ length: 60_000 }, (_, at) => `example.com/f-${at}`) },
    }),
    post("a quota of 55,000 quantities", "/api/v1/namespaces/default/resourcequotas", {
      metadata: { name: "large" },
      spec: { hard: fields(55_000, "requests.example.com/r-", "1") },
    }),
    post("50,000 addresses in a slice", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", {
      metadata: { name: "large" },
      addressType: "IPv4",
      endpoints: Array.from({ length: 1_000 }, (_, at) => ({
        addresses: Array.from({ length: 50 }, (__, own) => `10.${at >> 8}.${at & 255}.${own}`),
      })),
    }),
    {
      name: "60,000 keys with escaped characters",
      method: "POST",
      path: collection,
      type: "application/json",
      body: JSON.stringify(config(60_000)).replaceAll('"v"', '"\\ud83d\\ude00"'),
    },
    post("60,000 groups in a review", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {
      spec: {
        user: "u",
        groups: Array.from({ length: 60_000 }, (_, at) => `group-${at}`),
        nonResourceAttributes: { verb: "get", path: "/" },
      },
    }),
    {
      name: "60,000 unknown options of a delete",
      method: "DELETE",
      path: `${collection}/missing`,
      type: "application/json",
      body: JSON.stringify(unknown(60_000)),
    },
    patch("a JSON patch of 10,000 moves", "application/json-patch+json", [
      { op: "add", path: "/data/a", value: "v".repeat(100_000) },
      ...Array.from({ length: 9_998 }, (_, at) => ({
        op: "move",
        from: at % 2 === 0 ? "/data/a" : "/data/b",
        path: at % 2 === 0 ? "/data/b" : "/data/a",
      })),
    ]),
    patch("a JSON patch of 10,000 deep paths", "application/json-patch+json", [
      { op: "add", path: "/data/a", value: "v" },
      { op: "add", path: "/deep", value: nested(120) },
      ...Array.from({ length: 9_990 }, () => ({ op: "test", path: `/deep${"/a".repeat(120)}`, value: "v" })),
    ]),
    patch("a merge patch of 60,000 keys", "application/merge-patch+json", { data: fields(60_000, "key-", "v") }),
    patch("a strategic patch of 60,000 keys", "application/strategic-merge-patch+json", {
      data: fields(60_000, "key-", "v"),
    }),
    patch("an apply of 60,000 keys", "application/apply-patch+yaml", {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: objectName(0) },
      data: fields(60_000, "key-", "v"),
    }),
  ];
}

/** Returns an entry of managedFields that owns items of a list with keys. */
function managedItems(count: number): JsonObject {
  const items = Array.from({ length: count }, (_, at) => [`k:{"name":"item-${at}"}`, { ".": {} }]);
  const fieldsV1 = { "f:spec": { "f:items": Object.fromEntries(items) as JsonObject } };
  return { manager: "m", operation: "Update", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1 };
}

/** Returns objects inside each other. */
function nested(depth: number): JsonValue {
  return depth === 0 ? "v" : { a: nested(depth - 1) };
}

function fields(count: number, prefix: string, value: string | number): Record<string, string | number> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [prefix + at, value]));
}

function list(count: number, item: Record<string, string>): Record<string, string>[] {
  return Array.from({ length: count }, (_, at) => ({ ...item, name: `${item["name"]}-${at}` }));
}

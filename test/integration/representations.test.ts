import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import { encode } from "cbor-x";
import { load } from "js-yaml";
import { brief, configMap, pod, protobuf, TestServer } from "./server.ts";

let server: TestServer;
let maps: string;
let pods: string;
beforeAll(async () => {
  server = await TestServer.start();
  const namespace = await server.namespace();
  maps = `/api/v1/namespaces/${namespace}/configmaps`;
  pods = `/api/v1/namespaces/${namespace}/pods`;
  await server.create(maps, configMap("a", { labels: { x: "yes" }, data: { on: "on", number: "1" } }));
  await server.create(pods, pod("p"));
});
afterAll(() => server.close());

const table = "application/json;as=Table;v=v1;g=meta.k8s.io";
const partial = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
const partialList = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
const magic = [0x6b, 0x38, 0x73, 0];

describe("JSON", () => {
  test("is compact with one newline at the end, and indented for people", async () => {
    const plain = await server.get(`${maps}/a`);
    expect(plain.headers.get("content-type")).toBe("application/json");
    expect(plain.text.indexOf("\n")).toBe(plain.text.length - 1);
    const pretty = await server.get(`${maps}/a?pretty=true`);
    expect(pretty.text).toStartWith('{\n  "kind": "ConfigMap",\n  "apiVersion": "v1",\n');
    expect(pretty.json).toEqual(plain.json);
    const curl = { headers: { "user-agent": "curl/8.0" } };
    expect((await server.get(`${maps}/a`, curl)).text).toBe(pretty.text);
    expect((await server.get(`${maps}/a?pretty=false`, curl)).text).toBe(plain.text);
  });
});

describe("YAML", () => {
  test("is read and written", async () => {
    const body =
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: from-yaml\ndata:\n  quoted: 'yes'\n  text: |\n    a\n    b\n";
    const yaml = "application/yaml";
    const { code, headers, text } = await server.post(maps, body, { type: yaml, accept: yaml });
    expect({ code, type: headers.get("content-type") }).toEqual({ code: 201, type: yaml });
    expect((load(text) as any).data).toEqual({ quoted: "yes", text: "a\nb\n" });
    const list = await server.get(maps, { accept: yaml });
    expect((load(list.text) as any).kind).toBe("ConfigMapList");
  });

  test("cannot be watched", async () => {
    expect((await server.get(`${maps}?watch=1`, { accept: "application/yaml" })).code).toBe(406);
  });
});

describe("protobuf", () => {
  test("is written with the magic prefix and read back", async () => {
    const { code, headers, bytes } = await server.get(`${maps}/a`, { accept: protobuf });
    expect({ code, type: headers.get("content-type") }).toEqual({ code: 200, type: protobuf });
    expect([...bytes.subarray(0, 4)]).toEqual(magic);
    const stored = (await server.get(`${maps}/a`)).json;
    const put = await server.put(`${maps}/a`, bytes, { type: protobuf });
    expect(put.code).toBe(200);
    expect(put.json).toEqual(stored);
    const created = await server.post("/api/v1/namespaces", new Uint8Array([...magic, 0x0a]), { type: protobuf });
    expect(created.code).toBe(400);
  });

  test("holds lists, errors and deletions", async () => {
    await server.create(maps, configMap("goes"));
    for (const [answer, code] of [
      [await server.get(maps, { accept: protobuf }), 200],
      [await server.get(`${maps}/nobody`, { accept: protobuf }), 404],
      [await server.delete(`${maps}/goes`, undefined, { accept: protobuf }), 200],
      [await server.get(`${maps}/a`, { accept: `${protobuf};as=PartialObjectMetadata;v=v1;g=meta.k8s.io` }), 200],
    ] as const) {
      expect({ code: answer.code, type: answer.headers.get("content-type") }).toEqual({ code, type: protobuf });
      expect([...answer.bytes.subarray(0, 4)]).toEqual(magic);
    }
  });

  test("shows each change, to a reader who has seen the object before", async () => {
    await server.create(maps, configMap("changes", { data: { value: "one" } }));
    for (const value of ["two", "three"]) {
      const { json } = await server.get(`${maps}/changes`);
      expect((await server.get(maps, { accept: protobuf })).text).not.toContain(value);
      await server.put(`${maps}/changes`, { ...json, data: { value } });
      for (const path of [maps, `${maps}/changes`, `${maps}?limit=100`]) {
        expect((await server.get(path, { accept: protobuf })).text).toContain(value);
      }
    }
  });

  test("frames of a watch have their length in front", async () => {
    const answer = await server.get(`${maps}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Da`, {
      accept: `${protobuf};stream=watch`,
    });
    expect(answer.headers.get("content-type")).toBe(`${protobuf};stream=watch`);
    const view = new DataView(answer.bytes.buffer, answer.bytes.byteOffset);
    expect(view.getUint32(0)).toBe(answer.bytes.length - 4);
    expect(answer.text).toContain("ADDED");
  });
});

describe("a Table", () => {
  test("has columns, rows and by default the metadata of each object", async () => {
    const { code, headers, json } = await server.get(pods, { accept: `${table},application/json` });
    expect({ code, type: headers.get("content-type") }).toEqual({ code: 200, type: "application/json" });
    expect({ kind: json.kind, apiVersion: json.apiVersion }).toEqual({ kind: "Table", apiVersion: "meta.k8s.io/v1" });
    expect(json.columnDefinitions.slice(0, 3).map(({ name }: any) => name)).toEqual(["Name", "Ready", "Status"]);
    expect(json.rows[0].cells.slice(0, 3)).toEqual(["p", "0/1", "Pending"]);
    expect(json.rows[0].object.kind).toBe("PartialObjectMetadata");
  });

  test.each([
    ["None", undefined],
    ["Metadata", "PartialObjectMetadata"],
    ["Object", "Pod"],
  ])("with includeObject=%s holds objects of kind %p", async (include, kind) => {
    const { json } = await server.get(`${pods}/p?includeObject=${include}`, { accept: table });
    expect(json.rows[0].object?.kind).toBe(kind);
  });

  test("is refused for another includeObject", async () => {
    expect((await server.get(`${pods}?includeObject=x`, { accept: table })).code).toBe(400);
  });

  test("is watched with the columns in the first event alone", async () => {
    await using watch = await server.watch(maps, { accept: table });
    const [first, second] = await watch.take(2);
    expect(first?.object.kind).toBe("Table");
    expect(first?.object.columnDefinitions.length).toBeGreaterThan(0);
    expect(second?.object.columnDefinitions ?? []).toEqual([]);
    expect(second?.object.rows).toHaveLength(1);
  });
});

describe("PartialObjectMetadata", () => {
  test("is the metadata of an object, a list and a watch", async () => {
    const one = (await server.get(`${maps}/a`, { accept: partial })).json;
    expect({ kind: one.kind, apiVersion: one.apiVersion, data: one.data }).toEqual({
      kind: "PartialObjectMetadata",
      apiVersion: "meta.k8s.io/v1",
      data: undefined,
    });
    expect(one.metadata.labels).toEqual({ x: "yes" });
    const { json } = await server.get(maps, { accept: partialList });
    expect(json.kind).toBe("PartialObjectMetadataList");
    expect(json.items[0].kind).toBe("PartialObjectMetadata");
    await using watch = await server.watch(`${maps}?fieldSelector=metadata.name%3Da`, { accept: partial });
    const [event] = await watch.take(1);
    expect(brief(event as any)).toBe("ADDED a");
    expect(event?.object.kind).toBe("PartialObjectMetadata");
  });

  test("of the wrong shape is not acceptable", async () => {
    const { code, json } = await server.get(maps, { accept: partial });
    expect(code).toBe(406);
    expect(json.message).toContain("you requested PartialObjectMetadata, but the requested object is a list");
    expect((await server.get(`${maps}/a`, { accept: partialList })).code).toBe(406);
  });

  test("of the wrong shape does not matter to a Status", async () => {
    const options = { accept: partialList };
    expect((await server.get(`${maps}/none`, options)).code).toBe(404);
    expect((await server.request("DELETE", `${maps}/a?dryRun=All`, options)).json.status).toBe("Success");
  });
});

describe("negotiation", () => {
  test.each([
    ["*/*", "application/json"],
    ["text/html, application/yaml;q=0.5, */*;q=0.1", "application/yaml"],
    [`application/json;q=0.5,${protobuf}`, protobuf],
    ["application/json;as=Unknown;v=v1;g=meta.k8s.io,application/yaml", "application/yaml"],
    ["application/cbor,application/json", "application/json"],
  ])("Accept: %s gives %s", async (accept, type) => {
    const { code, headers } = await server.get(`${maps}/a`, { accept });
    expect({ code, type: headers.get("content-type") }).toEqual({ code: 200, type });
  });

  test.each(["text/html", "application/*", "text/*"])("Accept: %s is NotAcceptable", async (accept) => {
    const { code, json } = await server.get(`${maps}/a`, { accept });
    expect({ code, reason: json.reason, message: json.message }).toEqual({
      code: 406,
      reason: "NotAcceptable",
      message:
        "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf",
    });
  });

  test.each([["application/x-www-form-urlencoded"], ["text/plain"], ["application/cbor"], ["nonsense"]])(
    "a body of %s is an unsupported media type",
    async (type) => {
      const { code, json } = await server.post(maps, "{}", { type });
      expect({ code, reason: json.reason }).toEqual({ code: 415, reason: "UnsupportedMediaType" });
      expect(json.message).toStartWith(
        "the body of the request was in an unknown format - accepted media types include",
      );
    },
  );
});

describe("gzip", () => {
  beforeAll(async () => {
    for (let at = 0; at < 4; at++) {
      await server.create(
        maps,
        configMap(`large-${at}`, { labels: { large: "yes" }, data: { x: "x".repeat(50_000) } }),
      );
    }
  });

  test("compresses large bodies for clients that request exactly that", async () => {
    const path = `${maps}?labelSelector=large`;
    const plain = await server.get(path);
    expect(plain.headers.get("content-encoding")).toBeNull();
    const packed = await server.get(path, { headers: { "accept-encoding": "br, gzip" } });
    expect(packed.headers.get("content-encoding")).toBe("gzip");
    expect(packed.headers.get("vary")).toBe("Accept-Encoding");
    expect(packed.bytes.length).toBeLessThan(plain.bytes.length / 10);
    expect(gunzipSync(packed.bytes).toString()).toBe(plain.text);
    const weighted = await server.get(path, { headers: { "accept-encoding": "gzip;q=1" } });
    expect(weighted.headers.get("content-encoding")).toBeNull();
  });

  test("leaves small bodies alone", async () => {
    const { headers } = await server.get(`${maps}/a`, { headers: { "accept-encoding": "gzip" } });
    expect(headers.get("content-encoding")).toBeNull();
  });
});

test("CBOR is read and written once its gate is on", async () => {
  await using gated = await TestServer.start({ featureGates: { CBORServingAndStorage: true } });
  const path = "/api/v1/namespaces/default/configmaps";
  const cbor = "application/cbor";
  const body = new Uint8Array(encode(configMap("a", { data: { x: "1" } })));
  const { code, headers, bytes } = await gated.post(path, body, { type: cbor, accept: cbor });
  expect({ code, type: headers.get("content-type") }).toEqual({ code: 201, type: cbor });
  expect([...bytes.subarray(0, 3)]).toEqual([0xd9, 0xd9, 0xf7]);
  expect((await gated.get(`${path}/a`)).json.data).toEqual({ x: "1" });
  const watch = await gated.get(`${path}?watch=1&timeoutSeconds=1`, { accept: cbor });
  expect(watch.headers.get("content-type")).toBe("application/cbor-seq");
});

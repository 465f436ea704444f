import { describe, expect, test } from "bun:test";
import protobuf from "protobufjs";
import { toText } from "../../api/codec/byte-text.ts";
import { Scheme } from "../../kinds/scheme.ts";
import { builtInCatalog } from "../../kinds/built-in-catalog.ts";
import type { Exchange, Reply } from "../../request/exchange.ts";
import { openApiRoute } from "./openapi-route.ts";

const scheme = Scheme.builtIn();
const route = openApiRoute(
  { catalog: builtInCatalog(scheme), typeOf: (name) => scheme.typeSchema(name), version: "v1.36.0" },
  { nowMs: () => Date.UTC(2026, 0, 1) },
);
const strategic = "application/strategic-merge-patch+json";

describe("/openapi/v3", () => {
  test("lists a document for every group version under the hash of its content", async () => {
    const { paths } = await documentOf("/openapi/v3");
    expect(Object.keys(paths)).toContain("api/v1");
    expect(Object.keys(paths)).toContain("apis/coordination.k8s.io/v1");
    expect(paths["api/v1"].serverRelativeURL).toMatch(/^\/openapi\/v3\/api\/v1\?hash=[0-9A-F]{128}$/);
  });

  test("may be cached for ever under the current hash and redirects from an old one", async () => {
    const { paths } = await documentOf("/openapi/v3");
    const [path, hash] = paths["api/v1"].serverRelativeURL.split("?hash=");
    const current = await replyOf(path, {}, hash);
    const headers = new Map(current.headers);
    expect(headers.get("cache-control")).toBe("public, immutable");
    expect(headers.get("expires")).toBe("Fri, 01 Jan 2027 00:00:00 GMT");
    expect(headers.get("etag")).toBe(`"${hash}"`);
    const old = await replyOf(path, {}, "ABC");
    expect([old.code, new Map(old.headers).get("location")]).toEqual([301, `${path}?hash=${hash}`]);
    expect(new Map((await replyOf(path)).headers).get("cache-control")).toBeUndefined();
    expect((await replyOf(path, { "if-none-match": `"${hash}"` })).code).toBe(304);
  });

  test("marks every kind with its group, version and kind", async () => {
    const { components } = await documentOf("/openapi/v3/api/v1");
    for (const kind of ["Pod", "PodList", "Namespace", "Event"]) {
      expect(components.schemas[`io.k8s.api.core.v1.${kind}`]["x-kubernetes-group-version-kind"]).toContainEqual({
        group: "",
        version: "v1",
        kind,
      });
    }
  });

  test("documents how lists are merged", async () => {
    const { components } = await documentOf("/openapi/v3/api/v1");
    const spec = components.schemas["io.k8s.api.core.v1.PodSpec"];
    expect(spec.required).toContain("containers");
    expect(spec.properties.containers).toMatchObject({
      type: "array",
      items: { allOf: [{ $ref: "#/components/schemas/io.k8s.api.core.v1.Container" }], default: {} },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      "x-kubernetes-patch-merge-key": "name",
      "x-kubernetes-patch-strategy": "merge",
    });
    expect(components.schemas["io.k8s.apimachinery.pkg.util.intstr.IntOrString"]).toMatchObject({
      format: "int-or-string",
      oneOf: [{ type: "integer" }, { type: "string" }],
    });
  });

  test("documents the default of a field", async () => {
    const { components } = await documentOf("/openapi/v3/api/v1");
    const { properties } = components.schemas["io.k8s.api.core.v1.ServicePort"];
    expect(properties.port).toMatchObject({ type: "integer", default: 0 });
    expect(properties.protocol).toMatchObject({ default: "TCP", enum: ["SCTP", "TCP", "UDP"] });
    expect(properties.name).not.toHaveProperty("default");
    expect(properties.targetPort).not.toHaveProperty("default");
    const { items, ...list } = components.schemas["io.k8s.api.core.v1.ServiceList"].properties.items;
    expect(items.default).toEqual({});
    expect(list).not.toHaveProperty("x-kubernetes-list-type");
  });

  test("offers strategic patches with field validation, which kubectl looks for", async () => {
    const { paths } = await documentOf("/openapi/v3/api/v1");
    const { patch } = paths["/api/v1/namespaces/{namespace}/pods/{name}"];
    expect(patch["x-kubernetes-group-version-kind"]).toEqual({ group: "", version: "v1", kind: "Pod" });
    expect(patch["x-kubernetes-action"]).toBe("patch");
    expect(patch.operationId).toBe("patchCoreV1NamespacedPod");
    expect(Object.keys(patch.requestBody.content)).toContain(strategic);
    const names = patch.parameters.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(["dryRun", "fieldManager", "fieldValidation", "force"]));
  });

  test.each(["/openapi/v3/api/v1", "/openapi/v3/apis/coordination.k8s.io/v1"])(
    "defines everything that %s refers to, under unique operation ids",
    async (path) => {
      const document = await documentOf(path);
      const text = JSON.stringify(document);
      for (const [, name] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
        expect(document.components.schemas).toHaveProperty([name as string]);
      }
      const ids = [...text.matchAll(/"operationId":"([^"]+)"/g)].map(([, id]) => id);
      expect(new Set(ids).size).toBe(ids.length);
    },
  );

  test("answers 404 for a group version that is not served", async () => {
    expect((await replyOf("/openapi/v3/apis/example.com/v1")).code).toBe(404);
  });
});

describe("/openapi/v2", () => {
  test("uses the forms of Swagger 2.0", async () => {
    const { swagger, definitions, paths } = await documentOf("/openapi/v2");
    expect(swagger).toBe("2.0");
    expect(definitions["io.k8s.api.core.v1.Pod"].properties.spec).toMatchObject({
      $ref: "#/definitions/io.k8s.api.core.v1.PodSpec",
    });
    expect(definitions["io.k8s.apimachinery.pkg.util.intstr.IntOrString"]).toMatchObject({
      type: "string",
      format: "int-or-string",
    });
    expect(paths["/api/v1/namespaces/{name}"].patch.consumes).toContain(strategic);
  });

  test.each([
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
  ])("answers %s with the message that kubectl reads", async (accept) => {
    const reply = await replyOf("/openapi/v2", { accept });
    expect(new Map(reply.headers).get("content-type")).toBe(
      "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
    );
    const message = swaggerMessage().decode(reply.body as Uint8Array);
    const document = message.toJSON() as unknown as DecodedDocument;
    const json = await documentOf("/openapi/v2");
    expect(document.definitions.items.map(({ name }) => name)).toEqual(Object.keys(json.definitions));
    expect(document.paths.items.map(({ name }) => name)).toEqual(Object.keys(json.paths));
    const pod = document.definitions.items.find(({ name }) => name === "io.k8s.api.core.v1.Pod")?.value;
    expect(pod?.type?.value).toEqual(["object"]);
    expect(pod?.properties?.items.find(({ name }) => name === "spec")?.value.ref).toBe(
      "#/definitions/io.k8s.api.core.v1.PodSpec",
    );
    const extension = pod?.extensions?.find(({ name }) => name === "x-kubernetes-group-version-kind");
    expect(JSON.parse(extension?.value.yaml ?? "")).toEqual([{ group: "", version: "v1", kind: "Pod" }]);
  });
});

interface DecodedSchema {
  ref?: string;
  type?: { value: string[] };
  properties?: { items: { name: string; value: DecodedSchema }[] };
  extensions?: { name: string; value: { yaml: string } }[];
}
interface DecodedDocument {
  definitions: { items: { name: string; value: DecodedSchema }[] };
  paths: { items: { name: string }[] };
}

/** The part of openapi.v2 that the test reads, declared apart from the encoder. */
function swaggerMessage(): protobuf.Type {
  const { root } = protobuf.parse(`syntax = "proto3";
    message Any { string yaml = 2; }
    message NamedAny { string name = 1; Any value = 2; }
    message TypeItem { repeated string value = 1; }
    message NamedSchema { string name = 1; Schema value = 2; }
    message Properties { repeated NamedSchema items = 1; }
    message Schema { string ref = 1; TypeItem type = 22; Properties properties = 25; repeated NamedAny extensions = 31; }
    message PathItem { }
    message NamedPathItem { string name = 1; PathItem value = 2; }
    message Paths { repeated NamedPathItem items = 2; }
    message Document { string swagger = 1; Paths paths = 8; Properties definitions = 9; }`);
  return root.lookupType("Document");
}

async function documentOf(path: string) {
  return JSON.parse(toText((await replyOf(path)).body as Uint8Array));
}

async function replyOf(path: string, headers: Record<string, string> = {}, hash?: string): Promise<Reply> {
  const exchange = {
    request: { method: "GET", rawPath: path, headers: Object.entries(headers) },
    info: { kind: "nonResource", verb: "get", path, query: new Map(hash === undefined ? [] : [["hash", [hash]]]) },
  } as unknown as Exchange;
  return (await route.handle(exchange)) as Reply;
}

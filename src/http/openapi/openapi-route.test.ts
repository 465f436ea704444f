import { describe, expect, test } from "bun:test";
import { toText } from "../../api/codec/byte-text.ts";
import { builtInCatalog } from "../../kinds/built-in-catalog.ts";
import { Scheme } from "../../kinds/scheme.ts";
import type { Exchange, Reply } from "../../request/exchange.ts";
import { openApiRoute } from "./openapi-route.ts";
import { decodedDocument, sayable } from "./testing.ts";

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

  test("marks the options of deletions with every version that can be read", async () => {
    const { definitions } = await documentOf("/openapi/v2");
    for (const kind of ["DeleteOptions", "WatchEvent"]) {
      const kinds = definitions[`io.k8s.apimachinery.pkg.apis.meta.v1.${kind}`]["x-kubernetes-group-version-kind"];
      expect(kinds).toHaveLength(60);
      expect(kinds[0]).toEqual({ group: "", version: "v1", kind });
      expect(kinds).toContainEqual({ group: "apps", version: "v1beta2", kind });
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

  test.each([
    "application/com.github.proto-openapi.spec.v3@v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v3.v1.0+protobuf",
  ])("answers %s in protobuf, under the tag of the JSON form", async (accept) => {
    const json = new Map((await replyOf("/openapi/v3/version")).headers);
    const reply = await replyOf("/openapi/v3/version", { accept });
    const headers = new Map(reply.headers);
    expect(headers.get("content-type")).toBe("application/com.github.proto-openapi.spec.v3.v1.0+protobuf");
    expect(headers.get("etag")).toBe(json.get("etag") as string);
    expect(decodedDocument("v3", reply.body as Uint8Array)).toMatchObject({ openapi: "3.0.0" });
    expect((await replyOf("/openapi/v3/version", { accept, "if-none-match": json.get("etag") as string })).code).toBe(
      304,
    );
    const old = await replyOf("/openapi/v3/version", { accept }, "ABC");
    expect([old.code, new Map(old.headers).get("etag")]).toEqual([301, json.get("etag")]);
  });

  test.each(["/openapi/v2", "/openapi/v3/version"])("chooses a form of %s as upstream", async (path) => {
    const typeFor = async (accept: string) => {
      const { code, headers } = await replyOf(path, { accept });
      return [code, new Map(headers).get("content-type")];
    };
    expect(await typeFor("text/html,application/json;as=Table")).toEqual([200, "application/json"]);
    expect(await typeFor("application/*")).toEqual([200, "application/json"]);
    expect(await typeFor("text/html")).toEqual([406, undefined]);
    expect(await typeFor("text/*")).toEqual([406, undefined]);
  });

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
    const document = decodedDocument("v2", reply.body as Uint8Array) as Record<string, any>;
    const json = await documentOf("/openapi/v2");
    expect(Object.keys(document["paths"])).toEqual(Object.keys(json.paths));
    expect(document).toEqual(sayable(json, "v2") as object);
    expect(new Map(reply.headers).get("etag")).toBe(new Map((await replyOf("/openapi/v2")).headers).get("etag"));
  });
});

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

import { describe, expect, test } from "bun:test";
import { toText } from "../../api/codec/byte-text.ts";
import { unwrapUnknown } from "../../api/codec/protobuf.ts";
import { builtInCatalog } from "../../kinds/built-in-catalog.ts";
import { Scheme } from "../../kinds/scheme.ts";
import type { Exchange, Reply } from "../../request/exchange.ts";
import { FakeApis } from "../aggregation/testing.ts";
import { versionRoute } from "../version.ts";
import { discoveryRoute, type Route } from "./discovery-route.ts";
import { indexRoute } from "./index-route.ts";
import { MergedDiscovery } from "./merged-discovery.ts";

const catalog = builtInCatalog(Scheme.builtIn());
const remote = { versions: () => [], generation: () => 0 };
const types = new MergedDiscovery({ catalog, apis: new FakeApis(), remote });
const route = discoveryRoute(types, () => "10.0.0.1:6443");
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

describe("discoveryRoute()", () => {
  test("lists the versions of the core group", async () => {
    expect(await documentOf(route, "/api")).toEqual({
      kind: "APIVersions",
      versions: ["v1"],
      serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: "10.0.0.1:6443" }],
    });
  });

  test("lists resources and subresources of the core group by name", async () => {
    const list = await documentOf(route, "/api/v1");
    const names = list.resources.map(({ name }: { name: string }) => name);
    expect(Object.keys(list)).toEqual(["kind", "groupVersion", "resources"]);
    expect(names).toEqual([...names].sort());
    expect(list.resources.find(({ name }: { name: string }) => name === "pods")).toMatchObject({
      singularName: "pod",
      namespaced: true,
      kind: "Pod",
      verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
      shortNames: ["po"],
      categories: ["all"],
      storageVersionHash: "xPOwRZ+Yhw8=",
    });
    const eviction = list.resources.find(({ name }: { name: string }) => name === "pods/eviction");
    expect(eviction).toMatchObject({ group: "policy", version: "v1", kind: "Eviction", singularName: "" });
  });

  test("describes a named group and its version", async () => {
    const preferred = { groupVersion: "coordination.k8s.io/v1", version: "v1" };
    expect(await documentOf(route, "/apis/coordination.k8s.io")).toEqual({
      kind: "APIGroup",
      apiVersion: "v1",
      name: "coordination.k8s.io",
      versions: [preferred],
      preferredVersion: preferred,
    });
    expect(await documentOf(route, "/apis/coordination.k8s.io/v1")).toMatchObject({
      kind: "APIResourceList",
      apiVersion: "v1",
      groupVersion: "coordination.k8s.io/v1",
    });
    const { groups } = await documentOf(route, "/apis");
    expect(groups.every(({ name }: { name: string }) => name !== "")).toBe(true);
  });

  test.each(["/apis/nothing.example.com", "/apis/apps/v9", "/api/v2", "/apis/apps/v1/x/y"])(
    "answers 404 in plain text for %s",
    async (path) => {
      await expect(documentOf(route, path)).rejects.toThrow("404 page not found");
    },
  );

  test("gives the whole catalog at once to a client that asks for it", async () => {
    const reply = await replyOf(route, "/apis", { accept: `${aggregated},application/json` });
    const headers = new Map(reply.headers);
    expect(headers.get("content-type")).toBe(aggregated);
    expect(headers.get("etag")).toMatch(/^"[0-9A-F]{128}"$/);
    expect([headers.get("vary"), headers.get("cache-control")]).toEqual(["Accept", "public"]);
    const list = JSON.parse(toText(reply.body as Uint8Array));
    expect(list).toMatchObject({ kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2", metadata: {} });
    const leases = list.items.find(
      (item: { metadata: { name: string } }) => item.metadata.name === "coordination.k8s.io",
    );
    expect(leases.versions[0].freshness).toBe("Current");
    expect(leases.versions[0].resources[0]).toMatchObject({
      resource: "leases",
      responseKind: { group: "coordination.k8s.io", version: "v1", kind: "Lease" },
      scope: "Namespaced",
      singularResource: "lease",
    });
  });

  test("gives the core group an item without a name", async () => {
    const reply = await replyOf(route, "/api", { accept: aggregated });
    const list = JSON.parse(toText(reply.body as Uint8Array));
    expect(list.items).toHaveLength(1);
    expect(list.items[0].metadata).toEqual({});
  });

  test("answers 304 to a client that has the document", async () => {
    const first = await replyOf(route, "/apis", { accept: aggregated });
    const etag = new Map(first.headers).get("etag") as string;
    const second = await replyOf(route, "/apis", { accept: aggregated, "if-none-match": etag });
    expect([second.code, second.body]).toEqual([304, []]);
  });

  test("refuses the old beta of the aggregated form alone, and falls back to the plain one where that is asked for", async () => {
    const accept = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
    await expect(replyOf(route, "/api", { accept })).rejects.toThrow("only the following media types are accepted");
    expect((await documentOf(route, "/api", { accept: `${accept},application/json` })).kind).toBe("APIVersions");
  });

  test.each(["/api", "/apis", "/apis/coordination.k8s.io", "/api/v1"])(
    "writes %s as protobuf and YAML too",
    async (path) => {
      const { kind } = await documentOf(route, path);
      const binary = await replyOf(route, path, { accept: "application/vnd.kubernetes.protobuf" });
      expect(unwrapUnknown(binary.body as Uint8Array).kind).toBe(kind);
      const yaml = await replyOf(route, path, { accept: "application/yaml" });
      expect(toText(yaml.body as Uint8Array).split("\n")).toContain(`kind: ${kind}`);
    },
  );

  test("refuses other methods", async () => {
    await expect(replyOf(route, "/api", {}, "POST")).rejects.toThrow(
      "the server does not allow this method on the requested resource",
    );
  });
});

test("indexRoute() lists the served paths sorted", async () => {
  expect(
    await documentOf(
      indexRoute(() => ["/version", "/api", "/api"]),
      "/",
    ),
  ).toEqual({ paths: ["/api", "/version"] });
});

test("versionRoute() reports a version that clients can parse", async () => {
  const version = await documentOf(versionRoute(), "/version");
  expect(version).toMatchObject({ major: "1", minor: "36" });
  expect(version.gitVersion).toMatch(/^v1\.36\.2\+quorate\.\d+\.\d+\.\d+/);
});

async function documentOf(given: Route, path: string, headers: Record<string, string> = {}) {
  return JSON.parse(toText((await replyOf(given, path, headers)).body as Uint8Array));
}

async function replyOf(given: Route, path: string, headers: Record<string, string>, method = "GET"): Promise<Reply> {
  const exchange = {
    request: { method, rawPath: path, headers: Object.entries(headers) },
    info: { kind: "nonResource", verb: method.toLowerCase(), path, query: new Map() },
  } as unknown as Exchange;
  return (await given.handle(exchange)) as Reply;
}

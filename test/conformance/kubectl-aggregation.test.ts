import { afterAll, beforeAll, expect, test } from "bun:test";
import { ExtensionObjects } from "../integration/extension-objects.ts";
import { ExtensionServer, group, root } from "../integration/extension-server.ts";
import { mergePatch, TestServer } from "../integration/server.ts";
import { Kubectl } from "./kubectl.ts";

const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const waitMsMax = 10_000;
/** A request of a client never waits for an extension server. */
const discoveryMsMax = 500;

let server: TestServer;
let extension: ExtensionServer;
let objects: ExtensionObjects;
let kubectl: Kubectl;
let port: number;

beforeAll(async () => {
  extension = await ExtensionServer.start();
  ({ port } = extension);
  objects = new ExtensionObjects(extension);
  server = await TestServer.start({ enableAggregatorRouting: true, controllers: "*" });
  kubectl = await Kubectl.open(server.running.kubeconfig);
  for (const [path, object] of extension.objects()) await server.create(path, object);
  await untilFresh("Current");
});

afterAll(async () => {
  await kubectl[Symbol.asyncDispose]();
  await server.close();
  await extension[Symbol.asyncDispose]();
});

async function until(isDone: () => Promise<boolean> | boolean, what: string): Promise<void> {
  const startedMs = performance.now();
  while (!(await isDone())) {
    if (performance.now() - startedMs > waitMsMax) throw new Error(`${what} does not happen`);
    await Bun.sleep(20);
  }
}

interface DiscoveryGroup {
  readonly metadata: { readonly name?: string };
  readonly versions: readonly { readonly freshness: string; readonly resources?: readonly unknown[] }[];
}

async function discovered(): Promise<DiscoveryGroup | undefined> {
  const startedMs = performance.now();
  const { json } = await server.get("/apis", { accept: aggregated });
  expect(performance.now() - startedMs).toBeLessThan(discoveryMsMax);
  return (json.items as DiscoveryGroup[]).find(({ metadata }) => metadata.name === group);
}

function untilFresh(freshness: string): Promise<void> {
  return until(async () => (await discovered())?.versions[0]?.freshness === freshness, `freshness ${freshness}`);
}

/** The extension server dies or returns, and its endpoint with it. */
async function setRunning(isRunning: boolean): Promise<void> {
  if (isRunning) await extension.listen(port);
  else await extension.stop();
  const slice = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/widgets-a";
  const { endpoints } = (await server.get(slice)).json;
  await server.patch(slice, mergePatch, { endpoints: [{ ...endpoints[0], conditions: { ready: isRunning } }] });
  await untilFresh(isRunning ? "Current" : "Stale");
}

const widget = (name: string, metadata: object = {}) => ({
  apiVersion: `${group}/v1`,
  kind: "Widget",
  metadata: { name, ...metadata },
});

async function namespaceOf(): Promise<string> {
  const { metadata } = await server.create("/api/v1/namespaces", { metadata: { generateName: "test-" } });
  return metadata.name;
}

test("kubectl lists the resources of an extension server, and gets its objects by short name", async () => {
  const listed = await kubectl.ok(["api-resources", "--api-group", group]);
  expect(listed.split("\n")[1]?.split(/ +/).slice(0, 5)).toEqual(["widgets", "wdg", `${group}/v1`, "true", "Widget"]);
  expect(await kubectl.ok(["api-versions"])).toContain(`${group}/v1\n`);
  await kubectl.ok(["create", "-f", "-", "--validate=false"], { input: JSON.stringify(widget("first")) });
  expect(await kubectl.ok(["get", "wdg", "-o", "name"])).toBe(`widget.${group}/first\n`);
  await kubectl.ok(["delete", "widget", "first"]);
  expect(objects.names).toEqual([]);
});

test("kubectl explains the objects of an extension server, by its own document", async () => {
  await until(async () => (await server.get("/openapi/v3")).json.paths[`apis/${group}/v1`] !== undefined, "the entry");
  expect(await kubectl.ok(["explain", "widget.spec"])).toContain("How the widget should be.");
});

test("the Swagger document has the paths and definitions of the extension server's group version", async () => {
  const { json, headers } = await server.get("/openapi/v2");
  expect(Object.keys(json.paths)).toContain(`${root}/namespaces/{namespace}/widgets`);
  expect(json.paths["/apis/apps/v1/deployments"].get.operationId).not.toBe("listWidget");
  expect(json.definitions["com.example.widgets.v1.Widget"]).toMatchObject({ type: "object" });
  const again = await server.get("/openapi/v2", { headers: { "if-none-match": headers.get("etag") ?? "" } });
  expect(again.code).toBe(304);
  const binary = await server.get("/openapi/v2", {
    accept: "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
  });
  expect([binary.code, Buffer.from(binary.bytes).includes("com.example.widgets.v1.Widget")]).toEqual([200, true]);
});

test("an extension server that dies makes discovery stale, but neither slow nor wrong for others, until it returns", async () => {
  await setRunning(false);
  expect((await server.get(`${root}/widgets`)).code).toBe(503);
  const groups = (await server.get("/apis")).json.groups.map(({ name }: { name: string }) => name);
  expect(groups).toContain(group);
  expect((await server.get(`/apis/${group}`)).json.preferredVersion.version).toBe("v1");
  const startedMs = performance.now();
  expect(await kubectl.ok(["get", "namespaces", "default", "-o", "name"])).toBe("namespace/default\n");
  expect(performance.now() - startedMs).toBeLessThan(5_000);
  expect((await kubectl.run(["api-resources"])).stdout).toContain("deployments");
  expect((await server.get("/openapi/v2")).code).toBe(200);
  expect(await kubectl.ok(["get", "apiservice", `v1.${group}`])).toContain("False (");

  await setRunning(true);
  expect(await kubectl.ok(["get", "widgets", "-o", "name"])).toBe("");
});

test("a namespace goes with the objects of extension servers in it", async () => {
  const namespace = await namespaceOf();
  await server.post(`${root}/namespaces/${namespace}/widgets`, widget("a"));
  expect(objects.names).toEqual([`${namespace}/a`]);
  await kubectl.ok(["delete", "namespace", namespace, "--timeout=10s"]);
  expect(objects.names).toEqual([]);
});

test("a namespace stays while the extension server is dead, and its condition says so", async () => {
  const namespace = await namespaceOf();
  const path = `/api/v1/namespaces/${namespace}`;
  await setRunning(false);
  await server.delete(path);
  const failure = async () => {
    const { json } = await server.get(path);
    const conditions: { type: string; status: string; reason: string; message: string }[] =
      json.status.conditions ?? [];
    return conditions.find(({ type }) => type === "NamespaceDeletionDiscoveryFailure");
  };
  await until(async () => (await failure())?.status === "True", "the condition");
  expect(await failure()).toMatchObject({
    reason: "DiscoveryFailed",
    message:
      "Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: " +
      `${group}/v1: stale GroupVersion discovery: ${group}/v1`,
  });
  await setRunning(true);
  await until(async () => (await server.get(path)).code === 404, "the end of the namespace");
});

test("the group goes from all documents with its APIService", async () => {
  await kubectl.ok(["delete", "apiservice", `v1.${group}`]);
  expect(await discovered()).toBeUndefined();
  expect((await server.get(`/apis/${group}`)).code).toBe(404);
  expect((await server.get("/openapi/v3")).json.paths[`apis/${group}/v1`]).toBeUndefined();
  expect((await server.get("/openapi/v2")).json.paths[`${root}/namespaces/{namespace}/widgets`]).toBeUndefined();
  expect((await server.get(`/openapi/v3/apis/${group}/v1`)).code).toBe(404);
});

import { afterAll, beforeAll, expect, test } from "bun:test";
import { ExtensionObjects } from "../integration/extension-objects.ts";
import { ExtensionServer, group, root } from "../integration/extension-server.ts";
import { mergePatch, TestServer } from "../integration/server.ts";
import { until } from "../until.ts";
import { Kubectl } from "./kubectl.ts";

const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

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

interface DiscoveryGroup {
  readonly metadata: { readonly name?: string };
  readonly versions: readonly { readonly freshness: string; readonly resources?: readonly unknown[] }[];
}

async function discovered(): Promise<DiscoveryGroup | undefined> {
  const { json } = await server.get("/apis", { accept: aggregated });
  return (json.items as DiscoveryGroup[]).find(({ metadata }) => metadata.name === group);
}

async function untilFresh(freshness: string): Promise<void> {
  await until(async () => (await discovered())?.versions[0]?.freshness === freshness);
}

/** The extension server dies or returns, and its endpoint with it. */
async function setRunning(isRunning: boolean): Promise<void> {
  await setListening(isRunning);
  await untilFresh(isRunning ? "Current" : "Stale");
}

async function setListening(isRunning: boolean): Promise<void> {
  if (isRunning) await extension.listen(port);
  else await extension.stop();
  const slice = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/widgets-a";
  const { endpoints } = (await server.get(slice)).json;
  await server.patch(slice, mergePatch, { endpoints: [{ ...endpoints[0], conditions: { ready: isRunning } }] });
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
  await until(async () => (await server.get("/openapi/v3")).json.paths[`apis/${group}/v1`] !== undefined);
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

test("an extension server that dies makes discovery stale, but not wrong for others, until it returns", async () => {
  await setRunning(false);
  expect((await server.get(`${root}/widgets`)).code).toBe(503);
  const groups = (await server.get("/apis")).json.groups.map(({ name }: { name: string }) => name);
  expect(groups).toContain(group);
  expect((await server.get(`/apis/${group}`)).json.preferredVersion.version).toBe("v1");
  expect(await kubectl.ok(["get", "namespaces", "default", "-o", "name"])).toBe("namespace/default\n");
  expect((await kubectl.run(["api-resources"])).stdout).toContain("deployments");
  expect((await server.get("/openapi/v2")).code).toBe(200);
  expect(await kubectl.ok(["get", "apiservice", `v1.${group}`])).toContain("False (");

  await setRunning(true);
  expect(await kubectl.ok(["get", "widgets", "-o", "name"])).toBe("");
});

test("no request for discovery or documents waits for an extension server that hangs", async () => {
  const { answer } = extension;
  await setRunning(false);
  extension.seen.length = 0;
  extension.answer = () => {};
  await setListening(true);
  for (const path of ["/apis", "/openapi/v2"]) {
    await until(() => extension.seen.some(({ url }) => url === path));
  }
  expect((await discovered())?.versions[0]?.freshness).toBe("Stale");
  expect((await server.get("/openapi/v2")).code).toBe(200);
  expect((await server.get("/openapi/v3")).code).toBe(200);

  extension.answer = answer;
  await setRunning(false);
  await setRunning(true);
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
  await until(async () => (await failure())?.status === "True");
  expect(await failure()).toMatchObject({
    reason: "DiscoveryFailed",
    message:
      "Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: " +
      `${group}/v1: stale GroupVersion discovery: ${group}/v1`,
  });
  await setRunning(true);
  await until(async () => (await server.get(path)).code === 404);
});

interface OwnerOf {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly uid: string };
}

const ownedBy = ({ apiVersion, kind, metadata: { name, uid } }: OwnerOf, blockOwnerDeletion = false) => ({
  ownerReferences: [{ apiVersion, kind, name, uid, blockOwnerDeletion }],
});

async function createWidget(namespace: string, name: string, metadata: object = {}): Promise<OwnerOf> {
  const answer = await server.post(`${root}/namespaces/${namespace}/widgets`, widget(name, metadata));
  return answer.json;
}

async function createConfigMap(namespace: string, name: string, metadata: object = {}): Promise<OwnerOf> {
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...metadata } };
  return { ...object, ...(await server.create(`/api/v1/namespaces/${namespace}/configmaps`, object)) };
}

async function configMaps(namespace: string): Promise<string[]> {
  const { items } = (await server.get(`/api/v1/namespaces/${namespace}/configmaps`)).json;
  const names = (items as { metadata: { name: string } }[]).map(({ metadata: { name } }) => name);
  return names.filter((name) => name !== "kube-root-ca.crt");
}

test("a stored object goes with its owner on an extension server, and stays while the owner is there", async () => {
  const namespace = await namespaceOf();
  const owner = await createWidget(namespace, "owner");
  await createConfigMap(namespace, "dependent", ownedBy(owner));
  await createConfigMap(
    namespace,
    "early",
    ownedBy({ ...owner, metadata: { name: "owner", uid: crypto.randomUUID() } }),
  );
  await until(async () => !(await configMaps(namespace)).includes("early"));
  expect(await configMaps(namespace)).toEqual(["dependent"]);
  await server.delete(`${root}/namespaces/${namespace}/widgets/owner`);
  await until(async () => (await configMaps(namespace)).length === 0);
});

test("an object on an extension server goes with its stored owner, and blocks it in the foreground", async () => {
  const namespace = await namespaceOf();
  const owner = await createConfigMap(namespace, "owner");
  await createWidget(namespace, "blocking", { ...ownedBy(owner, true), finalizers: ["example.com/held"] });
  const path = `/api/v1/namespaces/${namespace}/configmaps/owner`;
  await server.delete(path, { kind: "DeleteOptions", apiVersion: "v1", propagationPolicy: "Foreground" });
  const key = `${namespace}/blocking`;
  await until(() => objects.get(key)?.metadata.deletionTimestamp !== undefined);
  expect((await server.get(path)).code).toBe(200);
  await server.patch(`${root}/namespaces/${namespace}/widgets/blocking`, mergePatch, {
    metadata: { finalizers: null },
  });
  await until(async () => (await server.get(path)).code === 404);
  expect(objects.get(key)).toBeUndefined();
});

test("orphans stay on both sides, without their references", async () => {
  const namespace = await namespaceOf();
  const orphan = { kind: "DeleteOptions", apiVersion: "v1", propagationPolicy: "Orphan" };
  const stored = await createConfigMap(namespace, "stored");
  await createWidget(namespace, "of-stored", ownedBy(stored));
  const remote = await createWidget(namespace, "remote");
  await createConfigMap(namespace, "of-remote", ownedBy(remote));
  await server.delete(`/api/v1/namespaces/${namespace}/configmaps/stored`, orphan);
  await server.delete(`${root}/namespaces/${namespace}/widgets/remote`, orphan);
  await until(async () => (await configMaps(namespace)).join() === "of-remote");
  await until(() => objects.get(`${namespace}/remote`) === undefined);
  expect(objects.get(`${namespace}/of-stored`)?.metadata.ownerReferences).toBeUndefined();
  const { metadata } = (await server.get(`/api/v1/namespaces/${namespace}/configmaps/of-remote`)).json;
  expect(metadata.ownerReferences).toBeUndefined();
});

test("dependents of an owner on a server that is dead stay until it returns", async () => {
  const namespace = await namespaceOf();
  const owner = await createWidget(namespace, "owner");
  await createConfigMap(namespace, "dependent", ownedBy(owner));
  await setRunning(false);
  await createConfigMap(namespace, "orphaned", ownedBy({ ...owner, metadata: { name: "other", uid: "1-2-3" } }));
  await Bun.sleep(300);
  expect((await configMaps(namespace)).sort()).toEqual(["dependent", "orphaned"]);
  await setRunning(true);
  await until(async () => (await configMaps(namespace)).join() === "dependent");
});

test("the group goes from all documents with its APIService", async () => {
  await kubectl.ok(["delete", "apiservice", `v1.${group}`]);
  expect(await discovered()).toBeUndefined();
  expect((await server.get(`/apis/${group}`)).code).toBe(404);
  expect((await server.get("/openapi/v3")).json.paths[`apis/${group}/v1`]).toBeUndefined();
  expect((await server.get("/openapi/v2")).json.paths[`${root}/namespaces/{namespace}/widgets`]).toBeUndefined();
  expect((await server.get(`/openapi/v3/apis/${group}/v1`)).code).toBe(404);
});

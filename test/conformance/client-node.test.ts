import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  ApiException,
  CoreV1Api,
  ListWatch,
  PatchStrategy,
  setHeaderOptions,
  type V1ConfigMap,
  type Watch,
} from "@kubernetes/client-node";
import { type RunningServer } from "../../src/index.ts";
import { startServer } from "../etcd/start-server.ts";
import { until } from "../until.ts";
import { Client } from "./client.ts";
import { quietControllers } from "./kubectl.ts";

const namespace = "default";

function configMap(name: string, data: Record<string, string> = {}, labels: Record<string, string> = {}): V1ConfigMap {
  return { metadata: { name, labels }, data };
}

async function failure(attempt: Promise<unknown>): Promise<{ code: number; status: { reason: string } }> {
  try {
    await attempt;
  } catch (error) {
    if (error instanceof ApiException) return { code: error.code, status: JSON.parse(error.body as string) };
    throw error;
  }
  throw new Error("the request should have failed");
}

describe("requests", () => {
  let server: RunningServer;
  let core: CoreV1Api;
  beforeAll(async () => {
    server = await startServer();
    core = Client.of(server.kubeconfig).core;
  });
  afterAll(() => server.close({ graceMs: 0 }));

  test("create, read, replace, patch and delete", async () => {
    const created = await core.createNamespacedConfigMap({ namespace, body: configMap("made", { a: "1" }) });
    expect(created.metadata?.creationTimestamp).toBeInstanceOf(Date);
    expect(await core.readNamespacedConfigMap({ namespace, name: "made" })).toEqual(created);

    const replaced = await core.replaceNamespacedConfigMap({
      namespace,
      name: "made",
      body: { ...created, data: { a: "2" } },
    });
    expect(replaced.data).toEqual({ a: "2" });
    expect(replaced.metadata?.uid).toBe(created.metadata?.uid as string);

    const patched = await core.patchNamespacedConfigMap(
      { namespace, name: "made", body: { data: { a: null, b: "3" } } },
      setHeaderOptions("Content-Type", PatchStrategy.MergePatch),
    );
    expect(patched.data).toEqual({ b: "3" });

    expect(await core.deleteNamespacedConfigMap({ namespace, name: "made" })).toMatchObject({ status: "Success" });
    expect(await failure(core.readNamespacedConfigMap({ namespace, name: "made" }))).toMatchObject({
      code: 404,
      status: { reason: "NotFound" },
    });
  });

  test("the patch types that a client may send", async () => {
    await core.createNamespacedConfigMap({ namespace, body: configMap("patched", { a: "1" }) });
    const patch = (type: string, body: unknown) =>
      core.patchNamespacedConfigMap({ namespace, name: "patched", body }, setHeaderOptions("Content-Type", type));
    await patch(PatchStrategy.StrategicMergePatch, { data: { b: "2" } });
    await patch(PatchStrategy.MergePatch, { data: { c: "3" } });
    const { data } = await patch(PatchStrategy.JsonPatch, [{ op: "remove", path: "/data/a" }]);
    expect(data).toEqual({ b: "2", c: "3" });
  });

  test("a replace from an old version is a conflict", async () => {
    const old = await core.createNamespacedConfigMap({ namespace, body: configMap("raced", { a: "1" }) });
    await core.replaceNamespacedConfigMap({ namespace, name: "raced", body: { ...old, data: { a: "2" } } });
    const late = core.replaceNamespacedConfigMap({ namespace, name: "raced", body: { ...old, data: { a: "3" } } });
    expect(await failure(late)).toMatchObject({ code: 409, status: { reason: "Conflict" } });
  });

  test("a second create of a name already exists", async () => {
    await core.createNamespacedConfigMap({ namespace, body: configMap("twice") });
    const again = core.createNamespacedConfigMap({ namespace, body: configMap("twice") });
    expect(await failure(again)).toMatchObject({ code: 409, status: { reason: "AlreadyExists" } });
  });

  test("pages show the state of the first page despite later writes", async () => {
    const labelSelector = "set=paged";
    const names = Array.from({ length: 7 }, (_, index) => `paged-${index}`);
    for (const name of names) {
      await core.createNamespacedConfigMap({ namespace, body: configMap(name, {}, { set: "paged" }) });
    }
    const first = await core.listNamespacedConfigMap({ namespace, labelSelector, limit: 3 });
    expect(first.items).toHaveLength(3);
    await core.deleteNamespacedConfigMap({ namespace, name: "paged-5" });
    await core.createNamespacedConfigMap({ namespace, body: configMap("paged-55", {}, { set: "paged" }) });

    const listed = first.items.map(({ metadata }) => metadata?.name);
    let next = first.metadata?._continue;
    while (next !== undefined && next !== "") {
      const page = await core.listNamespacedConfigMap({ namespace, labelSelector, limit: 3, _continue: next });
      expect(page.metadata?.resourceVersion).toBe(first.metadata?.resourceVersion as string);
      listed.push(...page.items.map(({ metadata }) => metadata?.name));
      next = page.metadata?._continue;
    }
    expect(listed).toEqual(names);
  });

  test("a selector of both kinds", async () => {
    await core.createNamespacedConfigMap({ namespace, body: configMap("both", {}, { set: "both" }) });
    const { items } = await core.listNamespacedConfigMap({
      namespace,
      labelSelector: "set in (both)",
      fieldSelector: "metadata.name=both",
    });
    expect(items).toHaveLength(1);
  });

  test("deletecollection deletes the selected objects", async () => {
    for (const name of ["gone-1", "gone-2"]) {
      await core.createNamespacedConfigMap({ namespace, body: configMap(name, {}, { set: "gone" }) });
    }
    await core.deleteCollectionNamespacedConfigMap({ namespace, labelSelector: "set=gone" });
    const { items } = await core.listNamespacedConfigMap({ namespace });
    const names = items.map(({ metadata }) => metadata?.name);
    expect(names).not.toContain("gone-1");
    expect(names).not.toContain("gone-2");
    expect(names).toContain("both");
  });
});

describe("an informer over restarts of the server", () => {
  const controllers = quietControllers;
  let dataDir: string;
  let server: RunningServer;
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "quorate-informer-"));
    server = await startServer({ dataDir, controllers });
  });
  afterAll(async () => {
    await server.close({ graceMs: 0 });
    await rm(dataDir, { recursive: true });
  });

  test("sees every change once, without a second list", async () => {
    const client = Client.of(server.kubeconfig);
    const seen: string[] = [];
    let lists = 0;
    let connections = 0;
    const informer = new ListWatch<V1ConfigMap>(
      `/api/v1/namespaces/${namespace}/configmaps`,
      client as unknown as Watch,
      () => {
        lists++;
        return client.core.listNamespacedConfigMap({ namespace });
      },
      false,
      undefined,
      undefined,
      { delayFn: () => Bun.sleep(20) },
    );
    const record = (verb: string) => (object: V1ConfigMap) => {
      seen.push(`${verb} ${object.metadata?.name}`);
    };
    informer.on("add", record("add"));
    informer.on("update", record("update"));
    informer.on("delete", record("delete"));
    informer.on("connect", () => connections++);
    // A refused connection ends the informer. A program that continues restarts it from the last version that it saw.
    informer.on("error", () => setTimeout(() => void informer.start(), 20));

    const expected: string[] = [];
    const change = async (verb: "add" | "update" | "delete", name: string) => {
      expected.push(`${verb} ${name}`);
      if (verb === "add") await client.core.createNamespacedConfigMap({ namespace, body: configMap(name) });
      else if (verb === "delete") await client.core.deleteNamespacedConfigMap({ namespace, name });
      else {
        const data = { changed: String(expected.length) };
        await client.core.replaceNamespacedConfigMap({ namespace, name, body: configMap(name, data) });
      }
    };

    await change("add", "before");
    await informer.start();
    for (let round = 0; round < 3; round++) {
      await change("add", `round-${round}`);
      await change("update", "before");
      const { port } = server;
      await server.close({ graceMs: 200 });
      server = await startServer({ dataDir, controllers, securePort: port });
      await change("update", `round-${round}`);
      await change("delete", `round-${round}`);
    }
    await change("add", "after");
    await until(() => seen.includes("add after"));
    await informer.stop();

    expect(seen).toEqual(expected);
    expect(lists).toBe(1);
    expect(connections).toBeGreaterThan(3);
    expect(informer.list().map(({ metadata }) => metadata?.name)).toEqual(["before", "after"]);
  });
});

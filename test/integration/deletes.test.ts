import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { until } from "../until.ts";
import { brief, configMap, mergePatch, pod, TestServer } from "./server.ts";

let server: TestServer;
let maps: string;
let pods: string;
beforeAll(async () => {
  server = await TestServer.start();
});
beforeEach(async () => {
  const namespace = await server.namespace();
  maps = `/api/v1/namespaces/${namespace}/configmaps`;
  pods = `/api/v1/namespaces/${namespace}/pods`;
});
afterAll(() => server.close());

const finalizer = "example.com/hold";

/** Deletes a pod and returns it. Its time must begin between the request and the answer. */
async function deletedNow(path: string, options?: object) {
  const beforeMs = Date.now();
  const { json } = await server.delete(path, options);
  const { deletionTimestamp, deletionGracePeriodSeconds } = json.metadata;
  const deletedMs = Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1_000;
  // The time has whole seconds.
  expect(deletedMs).toBeGreaterThan(beforeMs - 1_000);
  expect(deletedMs).toBeLessThanOrEqual(Date.now());
  return json;
}

test("a delete answers with a Status that names the deleted object", async () => {
  const { metadata } = await server.create(maps, configMap("a"));
  const { code, json } = await server.delete(`${maps}/a`);
  expect(code).toBe(200);
  expect(json).toEqual({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: { name: "a", kind: "configmaps", uid: metadata.uid },
  });
  expect((await server.get(`${maps}/a`)).code).toBe(404);
  expect((await server.delete(`${maps}/a`)).code).toBe(404);
});

test.each(["300000000000", "9223372036854775807"])("a grace of %s seconds is as long as times go", async (seconds) => {
  await server.create(pods, pod("bound", { nodeName: "n1" }));
  const { code, json } = await server.delete(`${pods}/bound?gracePeriodSeconds=${seconds}`);
  expect(code).toBe(200);
  expect(json.metadata.deletionTimestamp).toMatch(/^9999-12-31T23:59:5/);
  expect((await server.delete(`${pods}/bound?gracePeriodSeconds=0`)).code).toBe(200);
  expect((await server.get(`${pods}/bound`)).code).toBe(404);
});

describe("finalizers", () => {
  test("hold an object until the last one is gone; watchers see one change and one deletion", async () => {
    await server.create(maps, configMap("held", { finalizers: [finalizer] }));
    await using watch = await server.watch(`${maps}?resourceVersion=${await server.revision()}`);
    const { code, json } = await server.delete(`${maps}/held`);
    expect(code).toBe(200);
    expect(json.kind).toBe("ConfigMap");
    expect(json.metadata).toMatchObject({ deletionGracePeriodSeconds: 0, finalizers: [finalizer] });
    expect(json.metadata.deletionTimestamp).toBeString();
    const again = await server.delete(`${maps}/held`);
    expect({ code: again.code, object: again.json }).toEqual({ code: 200, object: json });

    const added = await server.patch(`${maps}/held`, mergePatch, { metadata: { finalizers: [finalizer, "a.b/c"] } });
    expect(added.code).toBe(422);
    expect(added.json.message).toContain(
      "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted",
    );
    const exists = await server.post(maps, configMap("held"));
    expect(exists.code).toBe(409);
    expect(exists.json.message).toBe('object is being deleted: configmaps "held" already exists');

    const last = await server.patch(`${maps}/held`, mergePatch, { metadata: { finalizers: null } });
    expect(last.code).toBe(200);
    expect((await server.get(`${maps}/held`)).code).toBe(404);
    await server.create(maps, configMap("next"));
    const events = await watch.take(3);
    expect(events.map(brief)).toEqual(["MODIFIED held", "DELETED held", "ADDED next"]);
    expect(events[1]?.object.metadata.finalizers).toEqual([finalizer]);
  });

  test.each([
    ["Foreground", ["foregroundDeletion"]],
    ["Orphan", ["orphan"]],
  ])("of propagation policy %s are added", async (propagationPolicy, finalizers) => {
    await server.create(maps, configMap("owner"));
    const { code, json } = await server.delete(`${maps}/owner`, { propagationPolicy });
    expect(code).toBe(200);
    expect(json.metadata.finalizers).toEqual(finalizers);
  });

  test("of the query's propagation policy are added as well, and Background removes them", async () => {
    await server.create(maps, configMap("a", { finalizers: ["orphan"] }));
    await server.create(maps, configMap("b"));
    expect((await server.delete(`${maps}/a?propagationPolicy=Background`)).json.status).toBe("Success");
    expect((await server.delete(`${maps}/b?orphanDependents=true`)).json.metadata.finalizers).toEqual(["orphan"]);
  });
});

describe("options of a delete", () => {
  test.each<[options: Record<string, unknown>, message: string]>([
    [{ preconditions: { uid: "x" } }, "the UID in the precondition (x) does not match the UID in record ("],
    [
      { preconditions: { resourceVersion: "1" } },
      "the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (",
    ],
  ])("%j that do not hold are a conflict", async (options, message) => {
    await server.create(maps, configMap("a"));
    const { code, json } = await server.delete(`${maps}/a`, options);
    expect({ code, reason: json.reason, kind: json.details.kind }).toEqual({
      code: 409,
      reason: "Conflict",
      kind: "ConfigMap",
    });
    expect(json.message).toContain(message);
    expect((await server.get(`${maps}/a`)).code).toBe(200);
  });

  test("with preconditions that hold delete", async () => {
    const { metadata } = await server.create(maps, configMap("a"));
    const { uid, resourceVersion } = metadata;
    const options = { kind: "DeleteOptions", apiVersion: "v1", preconditions: { uid, resourceVersion } };
    expect((await server.delete(`${maps}/a`, options)).code).toBe(200);
  });

  test.each<[options: unknown, code: number, message: string]>([
    [{ propagationPolicy: "X" }, 422, 'supported values: "Foreground", "Background", "Orphan", "nil"'],
    [{ propagationPolicy: "Orphan", orphanDependents: true }, 422, "cannot be both set"],
    [{ dryRun: ["x"] }, 422, 'dryRun: Unsupported value: ["x"]: supported values: "All"'],
    [{ gracePeriodSeconds: "x" }, 400, ""],
    [{ kind: "Pod", apiVersion: "v1" }, 400, 'no kind "Pod" is registered for version "v1" in scheme "'],
    [{ kind: "Table", apiVersion: "v1" }, 400, 'no kind "Table" is registered for version "v1" in scheme "'],
    [{ kind: "Table" }, 400, "converting (v1.Table) to (v1.DeleteOptions): unknown conversion"],
    [{ kind: "Status", apiVersion: "v1" }, 400, "converting (v1.Status) to (v1.DeleteOptions): unknown conversion"],
    [{ apiVersion: "a/b/c" }, 400, "unexpected GroupVersion string: a/b/c"],
    ["[]", 400, "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type"],
    ["{", 400, ""],
  ])("%j are refused", async (options, code, message) => {
    await server.create(maps, configMap("a"));
    const answer = await server.delete(`${maps}/a`, options);
    expect({ code: answer.code, kind: answer.json.kind }).toEqual({ code, kind: "Status" });
    expect(answer.json.message).toContain(message);
    expect((await server.get(`${maps}/a`)).code).toBe(200);
  });

  test("may be null, or of the kind null", async () => {
    for (const options of ["null", '{"kind":null}']) {
      await server.create(maps, configMap("a"));
      expect((await server.delete(`${maps}/a`, options)).code).toBe(200);
    }
  });

  test("of a query are refused if the policy is empty", async () => {
    await server.create(maps, configMap("a"));
    expect(await server.delete(`${maps}/a?propagationPolicy=`)).toMatchObject({
      code: 422,
      json: { message: expect.stringContaining('propagationPolicy: Unsupported value: "": supported values: ') },
    });
  });

  test("in a form are an unsupported media type", async () => {
    await server.create(maps, configMap("a"));
    const type = "application/x-www-form-urlencoded";
    expect((await server.delete(`${maps}/a`, "a=b", { type })).code).toBe(415);
  });
});

describe("a pod", () => {
  test("without a node is removed at once and returned", async () => {
    await server.create(pods, pod("loose"));
    const { code, json } = await server.delete(`${pods}/loose`);
    expect({ code, kind: json.kind }).toEqual({ code: 200, kind: "Pod" });
    expect((await server.get(`${pods}/loose`)).code).toBe(404);
  });

  test("on a node has its time; only a shorter one counts; zero ends it", async () => {
    await server.create(pods, pod("bound", { nodeName: "n1", terminationGracePeriodSeconds: 60 }));
    const first = await deletedNow(`${pods}/bound`);
    expect(first.metadata.deletionGracePeriodSeconds).toBe(60);
    expect(first.metadata.generation).toBe(2);

    const longer = (await server.delete(`${pods}/bound?gracePeriodSeconds=90`)).json;
    expect(longer).toEqual(first);
    const shorter = await deletedNow(`${pods}/bound`, { gracePeriodSeconds: 10 });
    expect(shorter.metadata.deletionGracePeriodSeconds).toBe(10);
    expect((await server.get(`${pods}/bound`)).code).toBe(200);
    expect((await server.delete(`${pods}/bound`, { gracePeriodSeconds: 0 })).code).toBe(200);
    expect((await server.get(`${pods}/bound`)).code).toBe(404);
  });
});

describe("a collection", () => {
  test("is deleted as far as it is selected, and answered with", async () => {
    for (const [name, on] of [
      ["a", "yes"],
      ["b", "no"],
      ["c", "yes"],
    ] as const) {
      await server.create(maps, configMap(name, { labels: { on } }));
    }
    const { code, json } = await server.delete(`${maps}?labelSelector=on%3Dyes`);
    expect({ code, kind: json.kind }).toEqual({ code: 200, kind: "ConfigMapList" });
    expect(json.items.map(({ metadata }: any) => metadata.name)).toEqual(["a", "c"]);
    expect((await server.get(maps)).json.items.map(({ metadata }: any) => metadata.name)).toEqual(["b"]);
    expect((await server.delete(`${maps}?labelSelector=on%3Dmaybe`)).json.items).toEqual([]);
  });

  test("of all namespaces cannot be deleted", async () => {
    const { code, json } = await server.delete("/api/v1/configmaps");
    expect({ code, reason: json.reason }).toEqual({ code: 405, reason: "MethodNotAllowed" });
  });
});

test("a namespace is emptied and then removed, and accepts nothing new meanwhile", async () => {
  const namespace = await server.namespace();
  const path = `/api/v1/namespaces/${namespace}`;
  await server.create(`${path}/configmaps`, configMap("held", { finalizers: [finalizer] }));
  await server.create(`${path}/configmaps`, configMap("free"));
  const { code, json } = await server.delete(path);
  expect({ code, kind: json.kind, phase: json.status.phase }).toEqual({
    code: 200,
    kind: "Namespace",
    phase: "Terminating",
  });
  const refused = await server.post(`${path}/configmaps`, configMap("late"));
  expect(refused.code).toBe(403);
  expect(refused.json.details.causes[0].reason).toBe("NamespaceTerminating");
  await until(async () => (await server.get(`${path}/configmaps/free`)).code === 404);
  expect((await server.get(path)).code).toBe(200);
  await server.patch(`${path}/configmaps/held`, mergePatch, { metadata: { finalizers: [] } });
  await until(async () => (await server.get(path)).code === 404);
});

test("CVE-2024-7598: pods are deleted before other objects of their namespace, and conditions name the remaining objects", async () => {
  const namespace = await server.namespace();
  const path = `/api/v1/namespaces/${namespace}`;
  const spec = { containers: [{ name: "c", image: "i" }], serviceAccountName: "default" };
  await until(async () => (await server.get(`${path}/serviceaccounts/default`)).code === 200);
  await server.create(`${path}/pods`, { metadata: { name: "held", finalizers: [finalizer] }, spec });
  await server.create(`${path}/configmaps`, configMap("used"));
  await server.delete(path);
  const conditions = async () => (await server.get(path)).json.status.conditions ?? [];
  const condition = async (type: string) => (await conditions()).find((one: { type: string }) => one.type === type);
  await until(async () => (await conditions()).length === 5);
  expect(await condition("NamespaceContentRemaining")).toMatchObject({
    status: "True",
    reason: "SomeResourcesRemain",
    message: "Some resources are remaining: pods. has 1 resource instances",
  });
  expect(await condition("NamespaceFinalizersRemaining")).toMatchObject({
    status: "True",
    message: `Some content in the namespace has finalizers remaining: ${finalizer} in 1 resource instances`,
  });
  expect((await server.get(`${path}/configmaps/used`)).code).toBe(200);
  const { resourceVersion } = (await server.get(path)).json.metadata;
  await Bun.sleep(1_200);
  expect((await server.get(path)).json.metadata.resourceVersion).toBe(resourceVersion);
  await server.patch(`${path}/pods/held`, mergePatch, { metadata: { finalizers: [] } });
  await until(async () => (await server.get(path)).code === 404);
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mergePatch, protobuf, TestServer } from "./server.ts";

let server: TestServer;
let namespace: string;
beforeAll(async () => {
  server = await TestServer.start({ runtimeConfig: { "resource.k8s.io/v1beta1": true } });
  namespace = await server.namespace();
});
afterAll(() => server.close());

const path = (apiVersion: string, resource: string, name = "") =>
  `/apis/${apiVersion}/namespaces/${namespace}/${resource}${name === "" ? "" : `/${name}`}`;
const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
const cpu = { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 60 } } };
const memory = {
  type: "Resource",
  resource: { name: "memory", target: { type: "AverageValue", averageValue: "1Gi" } },
};

describe("an autoscaler", () => {
  const v1 = (name = "") => path("autoscaling/v1", "horizontalpodautoscalers", name);
  const v2 = (name = "") => path("autoscaling/v2", "horizontalpodautoscalers", name);

  test("that is written in v1 is the same object in v2", async () => {
    const spec = { scaleTargetRef, maxReplicas: 3, targetCPUUtilizationPercentage: 60 };
    const created = await server.create(v1(), { metadata: { name: "old" }, spec });
    expect(created.apiVersion).toBe("autoscaling/v1");
    expect(created.spec).toMatchObject({ ...spec, minReplicas: 1 });
    const { json } = await server.get(v2("old"));
    expect(json.apiVersion).toBe("autoscaling/v2");
    expect(json.metadata.resourceVersion).toBe(created.metadata.resourceVersion);
    expect(json.spec.metrics).toEqual([cpu]);
  });

  test("keeps fields that v1 lacks through v1", async () => {
    const behavior = {
      scaleDown: {
        stabilizationWindowSeconds: 10,
        policies: [{ type: "Pods", value: 1, periodSeconds: 60 }],
        selectPolicy: "Min",
      },
    };
    const spec = { scaleTargetRef, maxReplicas: 3, metrics: [cpu, memory], behavior };
    const created = await server.create(v2(), { metadata: { name: "rich", annotations: { a: "b" } }, spec });
    const { json: old } = await server.get(v1("rich"));
    expect(old.spec.targetCPUUtilizationPercentage).toBe(60);
    expect(JSON.parse(old.metadata.annotations["autoscaling.alpha.kubernetes.io/metrics"])).toEqual([
      { type: "Resource", resource: { name: "memory", targetAverageValue: "1Gi" } },
    ]);
    old.spec.maxReplicas = 5;
    expect((await server.put(v1("rich"), old)).code).toBe(200);
    const { json } = await server.get(v2("rich"));
    expect(json.spec).toEqual({ ...created.spec, maxReplicas: 5 });
    expect(json.metadata.annotations).toEqual({ a: "b" });
    const writers = json.metadata.managedFields.map((entry: any) => entry.apiVersion);
    expect(writers.sort()).toEqual(["autoscaling/v1", "autoscaling/v2"]);
  });

  test("is patched, listed and watched in the version of the request", async () => {
    await server.create(v2(), { metadata: { name: "seen" }, spec: { scaleTargetRef, maxReplicas: 3, metrics: [cpu] } });
    await using watch = await server.watch(`${v1()}?fieldSelector=metadata.name%3Dseen`);
    expect((await watch.next())?.object.spec.targetCPUUtilizationPercentage).toBe(60);
    const patched = await server.patch(v1("seen"), mergePatch, { spec: { targetCPUUtilizationPercentage: 70 } });
    expect(patched.json.spec.targetCPUUtilizationPercentage).toBe(70);
    expect(await watch.next()).toMatchObject({ type: "MODIFIED", object: { apiVersion: "autoscaling/v1" } });
    const list = await server.get(`${v1()}?fieldSelector=metadata.name%3Dseen`);
    expect(list.json).toMatchObject({ kind: "HorizontalPodAutoscalerList", apiVersion: "autoscaling/v1" });
    expect(list.json.items[0]).toMatchObject({ spec: { targetCPUUtilizationPercentage: 70 } });
    expect(list.json.items[0].kind).toBeUndefined();
    expect((await server.get(v2("seen"))).json.spec.metrics[0].resource.target.averageUtilization).toBe(70);
    const binary = await server.get(v1("seen"), { accept: protobuf });
    expect((await server.put(v1("seen"), binary.bytes, { type: protobuf })).json.spec).toEqual(patched.json.spec);
  });

  test("belongs to its writers field by field, in the version of each", async () => {
    const as = (manager: string) => `?fieldManager=${manager}`;
    const spec = { scaleTargetRef, maxReplicas: 3, metrics: [cpu, memory] };
    await server.post(v2(as("old")), { metadata: { name: "owned" }, spec });
    const target = { spec: { targetCPUUtilizationPercentage: 75 } };
    const { json } = await server.patch(v1(`owned${as("new")}`), mergePatch, target);
    const entry = (manager: string) => json.metadata.managedFields.find((each: any) => each.manager === manager);
    expect(entry("new")).toMatchObject({
      apiVersion: "autoscaling/v1",
      fieldsV1: { "f:spec": { "f:targetCPUUtilizationPercentage": {} } },
    });
    expect(entry("old").apiVersion).toBe("autoscaling/v2");
    expect(entry("old").fieldsV1["f:spec"]).toHaveProperty(["f:maxReplicas"]);
    expect(entry("old").fieldsV1["f:spec"]).not.toHaveProperty(["f:metrics"]);
  });

  test("has the same row in both versions, and the object in the row in that of the request", async () => {
    const accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
    await server.create(v2(), { metadata: { name: "row" }, spec: { scaleTargetRef, maxReplicas: 3, metrics: [cpu] } });
    const [first, second] = await Promise.all(
      [v1, v2].map(async (of) => (await server.get(`${of("row")}?includeObject=Object`, { accept })).json),
    );
    expect(first.columnDefinitions).toEqual(second.columnDefinitions);
    expect(first.rows[0].cells).toEqual(second.rows[0].cells);
    expect(first.rows[0].object).toMatchObject({
      apiVersion: "autoscaling/v1",
      spec: { targetCPUUtilizationPercentage: 60 },
    });
    expect(second.rows[0].object).toMatchObject({ apiVersion: "autoscaling/v2", spec: { metrics: [cpu] } });
  });
});

describe("an Event", () => {
  const core = (name = "") => `/api/v1/namespaces/${namespace}/events${name === "" ? "" : `/${name}`}`;
  const modern = (name = "") => path("events.k8s.io/v1", "events", name);
  const regarding = () => ({ kind: "Pod", name: "p", namespace });

  test("of events.k8s.io is found in the core group under the fields' names there", async () => {
    await server.create(modern(), {
      metadata: { name: "new" },
      eventTime: "2030-01-01T00:00:00.000000Z",
      reportingController: "example.com/controller",
      reportingInstance: "one",
      action: "Act",
      reason: "Because",
      regarding: regarding(),
      note: "a note",
      type: "Normal",
    });
    const { json } = await server.get(core("new"));
    expect(json).toMatchObject({ kind: "Event", apiVersion: "v1", message: "a note", involvedObject: regarding() });
    expect(json.reportingComponent).toBe("example.com/controller");
    const selected = await server.get(
      `${modern()}?fieldSelector=regarding.name%3Dp,reportingController%3Dexample.com/controller`,
    );
    expect(selected.json.items.map((item: any) => item.note)).toEqual(["a note"]);
    expect((await server.get(`${modern()}?fieldSelector=involvedObject.name%3Dp`)).code).toBe(400);
  });

  test("of the core group keeps its counts through events.k8s.io", async () => {
    const event = {
      metadata: { name: "old" },
      involvedObject: regarding(),
      message: "m",
      count: 3,
      firstTimestamp: "2030-01-01T00:00:00Z",
      source: { component: "kubelet" },
    };
    const { json: created } = await server.post(core(), event);
    const { json } = await server.get(modern("old"));
    expect(json).toMatchObject({ note: "m", deprecatedCount: 3, deprecatedSource: { component: "kubelet" } });
    const changed = await server.patch(modern("old"), mergePatch, { metadata: { labels: { a: "b" } } });
    expect(changed.code).toBe(200);
    const { metadata: _old, ...fields } = created;
    expect((await server.get(core("old"))).json).toMatchObject(fields);
  });

  test("that is absent is named as the request names it", async () => {
    const message = 'events.events.k8s.io "absent" not found';
    expect((await server.get(modern("absent"))).json.message).toBe(message);
    expect((await server.delete(modern("absent"))).json.message).toBe(message);
    expect((await server.patch(modern("absent"), mergePatch, {})).json.message).toBe(message);
    expect((await server.get(core("absent"))).json.message).toBe('events "absent" not found');
  });

  test("has stricter rules in events.k8s.io", async () => {
    const { json } = await server.post(modern(), {
      metadata: { name: "x" },
      regarding: regarding(),
      deprecatedCount: 2,
    });
    const fields = json.details.causes.map(({ field }: any) => field);
    expect(fields).toContain("eventTime");
    expect(fields).toContain("count");
  });
});

test("a ResourceClaim of v1beta1 is one of v1 with its request under `exactly`", async () => {
  const v1beta1 = path("resource.k8s.io/v1beta1", "resourceclaims");
  const spec = { devices: { requests: [{ name: "gpu", deviceClassName: "gpu.example.com" }] } };
  const answer = await server.post(v1beta1, { metadata: { name: "claim" }, spec });
  expect(answer.headers.get("warning")).toBe(
    '299 - "resource.k8s.io/v1beta1 ResourceClaim is deprecated in v1.35+, unavailable in v1.38+"',
  );
  const [request] = answer.json.spec.devices.requests;
  expect(request).toMatchObject({ deviceClassName: "gpu.example.com", allocationMode: "ExactCount", count: 1 });
  const { json } = await server.get(path("resource.k8s.io/v1", "resourceclaims", "claim"));
  const { name, ...exactly } = request;
  expect(json.spec.devices.requests).toEqual([{ name, exactly }]);
});

test("deprecated versions are counted", async () => {
  await server.get("/api/v1/endpoints");
  const { headers } = await server.get("/api/v1/endpoints");
  expect(headers.get("warning")).toBe(
    '299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"',
  );
  const { text } = await server.get("/metrics");
  expect(text).toContain(
    'apiserver_requested_deprecated_apis{group="",version="v1",resource="endpoints",subresource="",removed_release=""} 1',
  );
});

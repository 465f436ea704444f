import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { encode } from "cbor-x";
import { mergePatch, TestServer } from "./server.ts";

const apply = "application/apply-patch+yaml";
const cborApply = "application/apply-patch+cbor";
let server: TestServer;
let maps: string;
let deployments: string;

beforeAll(async () => {
  server = await TestServer.start({ serviceClusterIpRange: "10.0.0.0/16" });
  const namespace = await server.namespace();
  maps = `/api/v1/namespaces/${namespace}/configmaps`;
  deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`;
});
afterAll(() => server.close());

function configMap(name: string, data: Record<string, string>, metadata: object = {}) {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...metadata }, data };
}

function deployment(name: string, replicas: number) {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: "a", image: "example.com/a:1" }] } };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name },
    spec: { replicas, selector: { matchLabels: labels }, template },
  };
}

function applied(path: string, body: unknown, query = "fieldManager=a") {
  return server.patch(`${path}?${query}`, apply, body);
}

test("an apply creates with 201, then changes with 200, and writes nothing when nothing changes", async () => {
  const created = await applied(`${maps}/one`, configMap("one", { a: "1" }));
  expect(created.code).toBe(201);
  const changed = await applied(`${maps}/one`, configMap("one", { b: "1" }));
  expect({ code: changed.code, data: changed.json.data }).toEqual({ code: 200, data: { b: "1" } });
  const same = await applied(`${maps}/one`, configMap("one", { b: "1" }));
  expect(same.json).toEqual(changed.json);
});

test("a conflict names the owner and the field", async () => {
  await applied(`${maps}/owned`, configMap("owned", { a: "1" }));
  const { code, json } = await applied(`${maps}/owned`, configMap("owned", { a: "2" }), "fieldManager=b");
  expect({ code, json }).toEqual({
    code: 409,
    json: {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: 'Apply failed with 1 conflict: conflict with "a": .data.a',
      reason: "Conflict",
      details: { causes: [{ reason: "FieldManagerConflict", message: 'conflict with "a"', field: ".data.a" }] },
      code: 409,
    },
  });
});

test.each([
  ["", {}, 422, "fieldManager: Required value: is required for apply patch"],
  ["fieldManager=a", "a: [", 400, "error decoding YAML: error converting YAML to JSON: yaml: line 1: did not find"],
  ["fieldManager=a", [], 400, "cannot unmarshal array into Go value of type map[string]interface {}"],
  ["fieldManager=a", "", 400, "invalid object type: /, Kind="],
  ["fieldManager=a", configMap("other", {}), 400, "does not match the name on the URL"],
  ["fieldManager=a", configMap("bad", {}, { namespace: "other" }), 400, "does not match the namespace sent"],
  ["fieldManager=a", configMap("bad", {}, { managedFields: [] }), 400, "metadata.managedFields must be nil"],
  ["fieldManager=a", { ...configMap("bad", {}), bogus: 1 }, 500, ".bogus: field not declared in schema"],
  [
    "fieldManager=a",
    { ...configMap("bad", {}), binaryData: { a: "f===" } },
    500,
    "failed to convert new object (/bad; /v1, Kind=ConfigMap) to proper version: unable to convert unstructured object to /v1, Kind=ConfigMap: error decoding from json: illegal base64 data at input byte 1",
  ],
  [
    "fieldManager=a",
    configMap("bad", {}, { creationTimestamp: "now" }),
    500,
    "unable to convert unstructured object to /v1, Kind=ConfigMap: parsing time",
  ],
  ["fieldManager=a", configMap("bad", {}, { uid: "x" }), 409, "uid mismatch: the provided object specified uid x"],
])("?%s with %j is refused", async (query, body, code, message) => {
  const answer = await applied(`${maps}/bad`, body, query);
  expect({ code: answer.code, message: answer.json.message }).toEqual({
    code,
    message: expect.stringContaining(message),
  });
});

test("whole numbers that are too large wrap around, as upstream's do", async () => {
  const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "wrapped" } };
  const leases = maps.replace("/api/v1/", "/apis/coordination.k8s.io/v1/").replace("configmaps", "leases");
  const { code, json } = await applied(`${leases}/wrapped`, { ...lease, spec: { leaseDurationSeconds: 99999999999 } });
  expect([code, json.spec]).toEqual([201, { leaseDurationSeconds: 1215752191 }]);
});

test("only an apply can be forced", async () => {
  const answer = await server.patch(`${maps}/one?force=true`, mergePatch, {});
  expect(answer.json.message).toContain("force: Forbidden: may not be specified for non-apply patch");
});

describe("a key that is repeated", () => {
  const body = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: twice}\ndata:\n  a: v\n  a: w\n";

  test("is a warning", async () => {
    const { code, headers } = await applied(`${maps}/twice`, body);
    expect(code).toBe(201);
    expect(headers.get("warning")).toContain('line 6: key \\"a\\" already set in map');
  });

  test("is refused when validation is strict", async () => {
    const { code, json } = await applied(`${maps}/strict`, body, "fieldManager=a&fieldValidation=Strict");
    expect(code).toBe(400);
    expect(json.message).toContain("error strict decoding YAML: ");
    expect(json.message).toContain('line 6: key "a" already set in map');
  });
});

test("an owner of the replicas of a Deployment loses them to the user that scales it", async () => {
  await applied(`${deployments}/scaled`, deployment("scaled", 1));
  const scale = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "scaled" }, spec: { replicas: 3 } };
  const refused = await applied(`${deployments}/scaled/scale`, scale, "fieldManager=scaler");
  expect(refused.json.message).toBe('Apply failed with 1 conflict: conflict with "a": .spec.replicas');
  expect((await applied(`${deployments}/scaled/scale`, scale, "fieldManager=scaler&force=true")).code).toBe(200);
  const { json } = await server.get(`${deployments}/scaled`);
  const owners = json.metadata.managedFields.filter((entry: any) => entry.fieldsV1["f:spec"]?.["f:replicas"]);
  expect(json.spec.replicas).toBe(3);
  expect(owners).toMatchObject([
    { manager: "scaler", operation: "Apply", apiVersion: "apps/v1", subresource: "scale" },
  ]);
});

test("a status is not created by an apply", async () => {
  expect((await applied(`${deployments}/missing/status`, deployment("missing", 1))).code).toBe(404);
});

test("an update with an empty list of owners clears them", async () => {
  await applied(`${maps}/reset`, configMap("reset", { a: "1" }));
  const answer = await server.put(`${maps}/reset`, configMap("reset", { a: "1" }, { managedFields: [] }));
  expect(answer.json.metadata.managedFields).toBeUndefined();
});

test("the verb is in discovery, in OpenAPI and in the metrics", async () => {
  const { resources } = (await server.get("/api/v1")).json;
  const verbsOf = (wanted: string) => resources.find(({ name }: { name: string }) => name === wanted).verbs;
  for (const name of ["configmaps", "pods/status"]) expect(verbsOf(name)).toContain("patch");
  const { paths } = (await server.get("/openapi/v3/apis/apps/v1")).json;
  for (const subresource of ["", "/status", "/scale"]) {
    const { patch } = paths[`/apis/apps/v1/namespaces/{namespace}/deployments/{name}${subresource}`];
    expect(Object.keys(patch.requestBody.content)).toContain(apply);
    const parameters = patch.parameters.map(({ name }: { name: string }) => name);
    expect(parameters).toEqual(expect.arrayContaining(["dryRun", "fieldManager", "fieldValidation", "force"]));
  }
  await applied(`${maps}/counted`, configMap("counted", { a: "1" }));
  const { text } = await server.get("/metrics");
  expect(
    text.includes('apiserver_request_total{verb="APPLY",dry_run="",group="",version="v1",resource="configmaps"'),
  ).toBe(true);
});

test("a pod whose addresses are set has both of them owned", async () => {
  const pods = maps.replace("configmaps", "pods");
  await server.create(pods, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "addressed" },
    spec: { containers: [{ name: "a", image: "example.com/a:1" }] },
  });
  const status = { podIPs: [{ ip: "10.0.0.1" }] };
  const { json } = await server.patch(`${pods}/addressed/status?fieldManager=agent`, mergePatch, { status });
  expect(json.status.podIP).toBe("10.0.0.1");
  const { fieldsV1 } = json.metadata.managedFields.find(({ manager }: { manager: string }) => manager === "agent");
  expect(fieldsV1["f:status"]).toEqual({
    "f:podIP": {},
    "f:podIPs": { ".": {}, 'k:{"ip":"10.0.0.1"}': { ".": {}, "f:ip": {} } },
  });
});

describe("CBOR", () => {
  const body = encode(configMap("binary", { a: "1" }));
  const path = "/openapi/v3/api/v1";
  const patchTypes = async (from: TestServer) => {
    const { json } = await from.get(path);
    return Object.keys(json.paths["/api/v1/namespaces/{namespace}/configmaps/{name}"].patch.requestBody.content);
  };

  test("is refused without its gate, and not published", async () => {
    const refused = await server.patch(`${maps}/binary?fieldManager=a`, cborApply, body);
    expect(refused.code).toBe(415);
    expect(await patchTypes(server)).not.toContain(cborApply);
  });

  test("is applied and published with its gate", async () => {
    await using gated = await TestServer.start({ featureGates: { CBORServingAndStorage: true } });
    const target = `/api/v1/namespaces/${await gated.namespace()}/configmaps/binary?fieldManager=a`;
    const created = await gated.patch(target, cborApply, body);
    expect({ code: created.code, data: created.json.data }).toEqual({ code: 201, data: { a: "1" } });
    expect((await gated.patch(target, cborApply, new Uint8Array([0xff]))).json.message).toStartWith("error decoding");
    expect(await patchTypes(gated)).toContain(cborApply);
  });
});

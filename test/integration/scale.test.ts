import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { jsonPatch, mergePatch, protobuf, strategicPatch, TestServer } from "./server.ts";

let server: TestServer;
let namespace: string;
beforeAll(async () => {
  server = await TestServer.start();
  namespace = await server.namespace();
});
afterAll(() => server.close());

const labels = { app: "web", tier: "front" };
const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "example.com/main:1" }] } };

function scalable(resource: string, name: string): [path: string, body: object] {
  const core = resource === "replicationcontrollers";
  const root = core ? "/api/v1" : "/apis/apps/v1";
  const selector = core ? labels : { matchLabels: labels };
  const service = resource === "statefulsets" ? { serviceName: "web" } : {};
  return [
    `${root}/namespaces/${namespace}/${resource}`,
    { metadata: { name }, spec: { replicas: 3, selector, template, ...service } },
  ];
}

async function deployment(name: string): Promise<string> {
  const [path, body] = scalable("deployments", name);
  await server.create(path, body);
  return `${path}/${name}`;
}

describe("scale", () => {
  test.each(["deployments", "replicasets", "statefulsets", "replicationcontrollers"])(
    "of %s shows replicas and selector, and changes nothing but the replicas",
    async (resource) => {
      const [path, body] = scalable(resource, "shown");
      const created = await server.create(path, body);
      const { json: scale } = await server.get(`${path}/shown/scale`);
      const { name, uid, resourceVersion, creationTimestamp } = created.metadata;
      expect(scale).toEqual({
        kind: "Scale",
        apiVersion: "autoscaling/v1",
        metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
        spec: { replicas: 3 },
        status: { replicas: 0, selector: "app=web,tier=front" },
      });

      const { code, json: answer } = await server.put(`${path}/shown/scale`, { ...scale, spec: { replicas: 5 } });
      expect({ code, kind: answer.kind, spec: answer.spec }).toEqual({
        code: 200,
        kind: "Scale",
        spec: { replicas: 5 },
      });
      const { json: object } = await server.get(`${path}/shown`);
      expect(object.spec).toEqual({ ...created.spec, replicas: 5 });
      expect([created.metadata.generation, object.metadata.generation]).toEqual([1, 2]);
      expect(object.metadata.managedFields).toContainEqual(
        expect.objectContaining({ subresource: "scale", fieldsV1: { "f:spec": { "f:replicas": {} } } }),
      );
    },
  );

  test.each([
    [mergePatch, { spec: { replicas: 7 } }],
    [strategicPatch, { spec: { replicas: 7 } }],
    [jsonPatch, [{ op: "replace", path: "/spec/replicas", value: 7 }]],
  ])("is patched by %s", async (type, body) => {
    const path = await deployment(`patched-${type.length}`);
    const { code, json } = await server.patch(`${path}/scale`, type, body);
    expect({ code, replicas: json.spec?.replicas }).toEqual({ code: 200, replicas: 7 });
    expect((await server.get(path)).json.spec.replicas).toBe(7);
  });

  test("to zero is written without the field, as a zero is", async () => {
    const path = await deployment("zero");
    const { json } = await server.patch(`${path}/scale`, mergePatch, { spec: { replicas: 0 } });
    expect(json.spec).toEqual({});
    expect((await server.get(path)).json.spec.replicas).toBe(0);
  });

  test("checks the resourceVersion and uid that it is sent with, and succeeds without them", async () => {
    const path = await deployment("guarded");
    const { json: scale } = await server.get(`${path}/scale`);
    await server.patch(path, mergePatch, { metadata: { annotations: { a: "b" } } });
    const stale = await server.put(`${path}/scale`, { ...scale, spec: { replicas: 9 } });
    expect({ code: stale.code, reason: stale.json.reason }).toEqual({ code: 409, reason: "Conflict" });
    const other = await server.put(`${path}/scale`, { metadata: { name: "guarded", uid: "x" }, spec: { replicas: 9 } });
    expect({ code: other.code, message: other.json.message }).toEqual({
      code: 409,
      message: `Operation cannot be fulfilled on deployments.apps "guarded": StorageError: invalid object, Code: 4, Key: /registry/deployments/${path.split("/")[5]}/guarded, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: x, UID in object meta: ${scale.metadata.uid}`,
    });
    const free = await server.put(`${path}/scale`, { metadata: { name: "guarded" }, spec: { replicas: 9 } });
    expect({ code: free.code, replicas: free.json.spec?.replicas }).toEqual({ code: 200, replicas: 9 });
  });

  test.each([
    [
      { metadata: { name: "refused" }, spec: { replicas: -1 } },
      422,
      "spec.replicas: Invalid value: -1: must be greater",
    ],
    [
      { metadata: { name: "refused", labels: { a: "b c" } }, spec: { replicas: 1 } },
      422,
      'Scale.autoscaling "refused" is invalid: metadata.labels: Invalid value: "b c"',
    ],
    [
      { metadata: { name: "refused", finalizers: ["a"] }, spec: { replicas: 1 } },
      422,
      'metadata.finalizers[0]: Invalid value: "a": name is neither a standard finalizer name nor is it fully qualified',
    ],
    [
      { metadata: { name: "other" }, spec: {} },
      400,
      "the name of the object (other) does not match the name on the URL",
    ],
    [
      { kind: "Deployment", apiVersion: "apps/v1", metadata: { name: "refused" } },
      400,
      "converting (v1.Deployment) to (autoscaling.Scale)",
    ],
  ])("refuses %j", async (body, code, message) => {
    const [path, object] = scalable("deployments", "refused");
    await server.post(path, object);
    const answer = await server.put(`${path}/refused/scale`, body);
    expect({ code: answer.code, message: answer.json.message }).toEqual({
      code,
      message: expect.stringContaining(message),
    });
  });

  test("is a table and protobuf too; a dry run changes nothing; a missing object is 404, an unserved kind 405", async () => {
    const path = await deployment("forms");
    const table = await server.get(`${path}/scale`, { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" });
    expect(table.json.columnDefinitions.map(({ name }: { name: string }) => name)).toEqual([
      "Name",
      "Desired",
      "Available",
      "Age",
    ]);
    expect(table.json.rows[0].cells.slice(0, 3)).toEqual(["forms", 3, 0]);
    const encoded = await server.get(`${path}/scale`, { accept: protobuf });
    expect([...encoded.bytes.subarray(0, 4)]).toEqual([0x6b, 0x38, 0x73, 0x00]);
    const put = await server.put(`${path}/scale`, encoded.bytes, { type: protobuf });
    expect({ code: put.code, replicas: put.json.spec?.replicas }).toEqual({ code: 200, replicas: 3 });

    const dry = await server.patch(`${path}/scale?dryRun=All`, mergePatch, { spec: { replicas: 1 } });
    expect(dry.json.spec).toEqual({ replicas: 1 });
    expect((await server.get(path)).json.spec.replicas).toBe(3);
    expect((await server.get(`${path}-not/scale`)).code).toBe(404);
    expect((await server.post(`${path}/scale`, {})).code).toBe(405);
    expect((await server.get(path.replace("deployments/forms", "daemonsets/x/scale"))).code).toBe(404);
  });
});

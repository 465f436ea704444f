import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { jsonPatch, mergePatch, strategicPatch, TestServer } from "./server.ts";

let server: TestServer;
let namespace: string;
beforeAll(async () => {
  server = await TestServer.start();
  namespace = await server.namespace();
});
afterAll(() => server.close());

const collection = (groupVersion: string, resource: string) =>
  `/${groupVersion === "v1" ? "api" : "apis"}/${groupVersion}/namespaces/${namespace}/${resource}`;
const template = { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "c", image: "i" }] } };
const deployment = (name: string) => ({
  metadata: { name },
  spec: { selector: { matchLabels: { app: "a" } }, template },
});

describe("invalid objects are rejected with upstream's complete messages", () => {
  test("a pod", async () => {
    const pod = { metadata: { name: "p" }, spec: { containers: [{ name: "A", image: "" }] } };
    const { code, json } = await server.post(collection("v1", "pods"), pod);
    expect(code).toBe(422);
    const label =
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
    expect(json).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: `Pod "p" is invalid: [spec.containers[0].name: Invalid value: "A": ${label}, spec.containers[0].image: Required value]`,
      reason: "Invalid",
      details: {
        name: "p",
        kind: "Pod",
        causes: [
          { reason: "FieldValueInvalid", message: `Invalid value: "A": ${label}`, field: "spec.containers[0].name" },
          { reason: "FieldValueRequired", message: "Required value", field: "spec.containers[0].image" },
        ],
      },
      code: 422,
    });
  });

  test("a deployment without a selector", async () => {
    const { code, json } = await server.post(collection("apps/v1", "deployments"), {
      metadata: { name: "d" },
      spec: { template },
    });
    expect(code).toBe(422);
    const mismatch = 'Invalid value: {"app":"a"}: `selector` does not match template `labels`';
    expect(json.message).toBe(
      `Deployment.apps "d" is invalid: [spec.selector: Required value, spec.template.metadata.labels: ${mismatch}]`,
    );
    expect(json.details).toEqual({
      name: "d",
      group: "apps",
      kind: "Deployment",
      causes: [
        { reason: "FieldValueRequired", message: "Required value", field: "spec.selector" },
        { reason: "FieldValueInvalid", message: mismatch, field: "spec.template.metadata.labels" },
      ],
    });
  });

  test.each([
    [
      "batch/v1",
      "cronjobs",
      { metadata: { name: "c" }, spec: { schedule: "often", jobTemplate: { spec: { template } } } },
      'CronJob.batch "c" is invalid: [spec.schedule: Invalid value: "often": expected exactly 5 fields, found 1: [often], spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"]',
    ],
    [
      "autoscaling/v1",
      "horizontalpodautoscalers",
      {
        metadata: { name: "h" },
        spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" }, maxReplicas: 0 },
      },
      'HorizontalPodAutoscaler.autoscaling "h" is invalid: [spec.maxReplicas: Required value: must be set and greater than 0, spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`]',
    ],
    [
      "policy/v1",
      "poddisruptionbudgets",
      { metadata: { name: "b" }, spec: { maxUnavailable: "110%" } },
      'PodDisruptionBudget.policy "b" is invalid: spec.maxUnavailable: Invalid value: "110%": must not be greater than 100%',
    ],
    [
      "v1",
      "resourcequotas",
      { metadata: { name: "q" }, spec: { hard: { pods: "-1" } } },
      'ResourceQuota "q" is invalid: spec.hard[pods]: Invalid value: "-1": must be greater than or equal to 0',
    ],
    [
      "coordination.k8s.io/v1",
      "leases",
      { metadata: { name: "l" }, spec: { leaseDurationSeconds: 0 } },
      'Lease.coordination.k8s.io "l" is invalid: spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0',
    ],
  ])("an object of %s %s", async (groupVersion, resource, object, message) => {
    const { code, json } = await server.post(collection(groupVersion, resource), object);
    expect([code, json.message]).toEqual([422, message]);
  });
});

describe("a deployment", () => {
  const pathOf = (name: string) => `${collection("apps/v1", "deployments")}/${name}`;

  test("counts changes of its spec and its annotations as generations", async () => {
    await server.create(collection("apps/v1", "deployments"), deployment("counted"));
    const generationAfter = async (type: string, body: unknown, subresource = "") => {
      const { json } = await server.patch(`${pathOf("counted")}${subresource}`, type, body);
      return json.metadata.generation;
    };
    expect(await generationAfter(mergePatch, { metadata: { labels: { a: "b" } } })).toBe(1);
    expect(await generationAfter(mergePatch, { spec: { replicas: 2 } })).toBe(2);
    expect(await generationAfter(mergePatch, { metadata: { annotations: { a: "b" } } })).toBe(3);
    expect(await generationAfter(mergePatch, { status: { replicas: 1 } }, "/status")).toBe(3);
    const container = { spec: { template: { spec: { containers: [{ name: "c", image: "j" }] } } } };
    expect(await generationAfter(strategicPatch, container)).toBe(4);
  });

  test("has a spec and a status that are written apart", async () => {
    const object = { ...deployment("apart"), status: { replicas: 5 } };
    const created = await server.create(collection("apps/v1", "deployments"), object);
    expect(created.status).toEqual({});
    const put = await server.put(pathOf("apart"), object);
    expect(put.json.status).toEqual({});
    const other = { ...object, spec: { ...object.spec, replicas: 7 } };
    const { json } = await server.put(`${pathOf("apart")}/status`, other);
    expect([json.spec.replicas, json.status]).toEqual([1, { replicas: 5 }]);
  });

  test("keeps its selector", async () => {
    await server.create(collection("apps/v1", "deployments"), deployment("fixed"));
    const { code, json } = await server.patch(pathOf("fixed"), jsonPatch, [
      { op: "replace", path: "/spec/selector/matchLabels", value: { b: "c" } },
      { op: "replace", path: "/spec/template/metadata/labels", value: { b: "c" } },
    ]);
    const cause = 'Invalid value: {"matchLabels":{"b":"c"}}: field is immutable';
    expect([code, json.message]).toEqual([422, `Deployment.apps "fixed" is invalid: spec.selector: ${cause}`]);
  });
});

describe("a job", () => {
  const jobs = () => collection("batch/v1", "jobs");
  const spec = { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } } };

  test("selects its pods by its uid, also under a name that is made for it", async () => {
    const job = await server.create(jobs(), { metadata: { generateName: "j-" }, spec });
    const { name, uid } = job.metadata;
    expect(job.spec.selector).toEqual({ matchLabels: { "batch.kubernetes.io/controller-uid": uid } });
    expect(job.spec.template.metadata.labels).toEqual({
      "batch.kubernetes.io/controller-uid": uid,
      "batch.kubernetes.io/job-name": name,
      "controller-uid": uid,
      "job-name": name,
    });
  });

  test("is not changed while it runs, but may be stopped", async () => {
    await server.create(jobs(), { metadata: { name: "fixed" }, spec });
    const patched = (body: unknown) => server.patch(`${jobs()}/fixed`, mergePatch, body);
    expect((await patched({ spec: { suspend: true } })).code).toBe(200);
    const { code, json } = await patched({ spec: { completions: 5 } });
    expect([code, json.message]).toEqual([
      422,
      'Job.batch "fixed" is invalid: spec.completions: Invalid value: 5: field is immutable',
    ]);
  });

  test("leaves its pods behind when it is deleted without a word about them, and warns of that", async () => {
    await server.create(jobs(), { metadata: { name: "orphaning" }, spec });
    const { headers } = await server.delete(`${jobs()}/orphaning`);
    expect(headers.get("warning")).toContain("child pods are preserved by default");
    const { json } = await server.get(`${jobs()}/orphaning`);
    expect(json.metadata?.finalizers ?? ["orphan"]).toContain("orphan");
  });
});

test("a pod changes its image and little else", async () => {
  const pods = collection("v1", "pods");
  await server.create(pods, { metadata: { name: "p" }, spec: template.spec });
  const patched = (spec: unknown) => server.patch(`${pods}/p`, strategicPatch, { spec });
  expect((await patched({ containers: [{ name: "c", image: "j" }], activeDeadlineSeconds: 5 })).code).toBe(200);
  const { code, json } = await patched({ hostname: "h" });
  expect(code).toBe(422);
  expect(json.details.causes).toMatchObject([{ reason: "FieldValueForbidden", field: "spec" }]);
  expect(json.message).toStartWith(
    'Pod "p" is invalid: spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
  );
});

describe("a warning", () => {
  const env = [
    { name: "A", value: "1" },
    { name: "A", value: "2" },
  ];
  const hidden = 'env[1]: hides previous definition of \\"A\\", which may be dropped when using apply';
  const spec = { containers: [{ name: "c", image: "i", env }] };

  test("warns of valid but probably unintended fields of a pod", async () => {
    const { code, headers } = await server.post(collection("v1", "pods"), { metadata: { name: "odd.name" }, spec });
    expect(code).toBe(201);
    const warnings = headers.get("warning") ?? "";
    expect(warnings).toContain(`299 - "spec.containers[0].${hidden}"`);
    expect(warnings).toContain(
      `299 - "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]"`,
    );
  });

  test("comes with each new generation of a deployment, and with no other write", async () => {
    const path = `${collection("apps/v1", "deployments")}/warned`;
    const odd = deployment("warned");
    const body = { ...odd, spec: { ...odd.spec, template: { ...template, spec } } };
    const warningOf = async (answer: Promise<{ headers: Headers }>) => (await answer).headers.get("warning");
    expect(await warningOf(server.post(collection("apps/v1", "deployments"), body))).toContain(hidden);
    expect(await warningOf(server.patch(path, mergePatch, { metadata: { labels: { a: "b" } } }))).toBeNull();
    expect(await warningOf(server.patch(path, mergePatch, { spec: { replicas: 2 } }))).toContain(hidden);
    expect(await warningOf(server.patch(`${path}/status`, mergePatch, { status: { replicas: 2 } }))).toBeNull();
  });
});

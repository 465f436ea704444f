import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encode } from "cbor-x";
import { until } from "../until.ts";
import { auditLine } from "./audit-line.ts";
import { mergePatch, TestServer } from "./server.ts";

// Everything that works for all kinds works for a custom kind: access, audit, admission, quota, formats, deletion.
const directory = mkdtempSync(join(tmpdir(), "custom-machinery-"));
const auditLogPath = join(directory, "audit.log");
const group = "stable.example.com";
const policies = "/apis/admissionregistration.k8s.io/v1";
const rbac = "/apis/rbac.authorization.k8s.io/v1";
let server: TestServer;
let namespace: string;
let gears: string;

beforeAll(async () => {
  const tokenAuthFile = join(directory, "tokens.csv");
  writeFileSync(tokenAuthFile, "alice-token,alice,alice-uid");
  const auditPolicyFile = join(directory, "audit.json");
  const auditPolicy = { apiVersion: "audit.k8s.io/v1", kind: "Policy", rules: [{ level: "RequestResponse" }] };
  writeFileSync(auditPolicyFile, JSON.stringify(auditPolicy));
  server = await TestServer.start({
    authorizationMode: ["RBAC"],
    tokenAuthFile,
    auditPolicyFile,
    auditLogPath,
    featureGates: { CBORServingAndStorage: true },
  });
  await install([version("v1", true, { size: { type: "integer" }, color: { type: "string", default: "blue" } })]);
});
afterAll(async () => {
  await server.close();
  rmSync(directory, { recursive: true });
});

function version(name: string, storage: boolean, properties: object): object {
  return {
    name,
    served: true,
    storage,
    subresources: { status: {} },
    selectableFields: [{ jsonPath: ".spec.color" }],
    schema: {
      openAPIV3Schema: {
        type: "object",
        properties: {
          spec: { type: "object", properties },
          status: { type: "object", properties: { phase: { type: "string" } } },
        },
      },
    },
  };
}

async function install(versions: object[]): Promise<void> {
  const names = { plural: "gears", singular: "gear", kind: "Gear" };
  await server.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    metadata: { name: `gears.${group}` },
    spec: { group, scope: "Namespaced", names, versions },
  });
  await until(async () => (await server.get(`/apis/${group}/v1/gears`)).code === 200);
  namespace = await server.namespace();
  gears = gearsIn(namespace);
}

const gearsIn = (one: string) => `/apis/${group}/v1/namespaces/${one}/gears`;
const gear = (name: string, spec: object = {}, metadata: object = {}) => ({
  apiVersion: `${group}/v1`,
  kind: "Gear",
  metadata: { name, ...metadata },
  spec,
});

test("roles grant the resource and its subresources one by one", async () => {
  const alice = { token: "alice-token" };
  const refused = await server.get(gears, alice);
  expect([refused.code, refused.json.message]).toEqual([
    403,
    `gears.${group} is forbidden: User "alice" cannot list resource "gears" in API group "${group}" in the namespace "${namespace}"`,
  ]);
  await server.create(`${rbac}/namespaces/${namespace}/roles`, {
    metadata: { name: "gears" },
    rules: [{ apiGroups: [group], resources: ["gears"], verbs: ["get", "list", "create", "update"] }],
  });
  await server.create(`${rbac}/namespaces/${namespace}/rolebindings`, {
    metadata: { name: "gears" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "gears" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "alice" }],
  });
  await until(async () => (await server.get(gears, alice)).code === 200);
  const created = await server.post(gears, gear("mine"), alice);
  expect(created.code, created.text).toBe(201);
  const status = await server.put(`${gears}/mine/status`, { ...created.json, status: { phase: "x" } }, alice);
  expect([status.code, status.json.details]).toEqual([403, { name: "mine", group, kind: "gears" }]);
});

test("the audit log holds the objects, in the version of the request", async () => {
  const headers = { "audit-id": "gear-1" };
  expect((await server.post(gears, gear("seen", { size: 3 }), { headers })).code).toBe(201);
  const event = JSON.parse(await auditLine(auditLogPath, "gear-1"));
  expect(event).toMatchObject({
    verb: "create",
    objectRef: { resource: "gears", namespace, name: "seen", apiGroup: group, apiVersion: "v1" },
    requestObject: { kind: "Gear", spec: { size: 3 } },
    responseObject: { kind: "Gear", spec: { size: 3, color: "blue" } },
  });
});

test("a quota counts objects, and refuses those beyond", async () => {
  const own = await server.namespace();
  const quotas = `/api/v1/namespaces/${own}/resourcequotas`;
  const counted = `count/gears.${group}`;
  await server.create(quotas, { metadata: { name: "q" }, spec: { hard: { [counted]: "1" } } });
  const used = async () => (await server.get(`${quotas}/q`)).json.status?.used?.[counted];
  await until(async () => (await used()) === "0");
  await server.create(gearsIn(own), gear("a"));
  const { code, json } = await server.post(gearsIn(own), gear("b"));
  expect([code, json.message]).toEqual([
    403,
    `gears.${group} "b" is forbidden: exceeded quota: q, requested: ${counted}=1, used: ${counted}=1, limited: ${counted}=1`,
  ]);
  await server.delete(`${gearsIn(own)}/a`);
  await until(async () => (await server.post(gearsIn(own), gear("b"))).code === 201);
});

test("policies change and refuse objects, with the types of the schema", async () => {
  const own = await server.namespace();
  const matchConstraints = {
    namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": own } },
    resourceRules: [{ operations: ["CREATE"], apiGroups: [group], apiVersions: ["*"], resources: ["gears"] }],
  };
  await server.create(`${policies}/mutatingadmissionpolicies`, {
    metadata: { name: "paint" },
    spec: {
      matchConstraints,
      reinvocationPolicy: "Never",
      mutations: [
        {
          patchType: "ApplyConfiguration",
          applyConfiguration: { expression: 'Object{spec: Object.spec{color: "red"}}' },
        },
      ],
    },
  });
  await server.create(`${policies}/mutatingadmissionpolicybindings`, {
    metadata: { name: "paint" },
    spec: { policyName: "paint" },
  });
  await server.create(`${policies}/validatingadmissionpolicies`, {
    metadata: { name: "small" },
    spec: { matchConstraints, validations: [{ expression: "object.spec.size < 5", message: "too large" }] },
  });
  await server.create(`${policies}/validatingadmissionpolicybindings`, {
    metadata: { name: "small" },
    spec: { policyName: "small", validationActions: ["Deny"] },
  });
  expect((await server.create(gearsIn(own), gear("a", { size: 4 }))).spec).toEqual({ size: 4, color: "red" });
  const { code, json } = await server.post(gearsIn(own), gear("b", { size: 5 }));
  expect(code).toBe(422);
  expect(json.message).toBe(
    `gears.${group} "b" is forbidden: ValidatingAdmissionPolicy 'small' with binding 'small' denied request: too large`,
  );
});

test("CBOR is read and written behind its gate", async () => {
  const cbor = "application/cbor";
  const created = await server.post(gears, encode(gear("binary", { size: 1 })), { type: cbor, accept: cbor });
  expect([created.code, created.headers.get("content-type")]).toEqual([201, cbor]);
  expect((await server.get(`${gears}/binary`)).json.spec).toEqual({ size: 1, color: "blue" });
  const again = await server.put(`${gears}/binary`, created.bytes, { type: cbor });
  expect([again.code, again.json.spec]).toEqual([200, { size: 1, color: "blue" }]);
});

test("finalizers, preconditions and collections work as for any kind", async () => {
  const own = await server.namespace();
  const held = await server.create(gearsIn(own), gear("held", {}, { finalizers: ["example.com/hold"] }));
  await server.create(gearsIn(own), gear("free", {}, { labels: { a: "b" } }));
  const stale = await server.delete(`${gearsIn(own)}/held`, { preconditions: { uid: "another" } });
  expect(stale.code).toBe(409);
  expect((await server.delete(`${gearsIn(own)}/held?dryRun=All`)).code).toBe(200);
  expect((await server.get(`${gearsIn(own)}/held`)).json).toEqual(held);
  expect((await server.delete(`${gearsIn(own)}?labelSelector=a%3Db`)).code).toBe(200);
  expect((await server.get(`${gearsIn(own)}/free`)).code).toBe(404);
  await server.delete(`${gearsIn(own)}/held`);
  expect((await server.get(`${gearsIn(own)}/held`)).json.metadata.deletionTimestamp).toBeString();
  await server.patch(`${gearsIn(own)}/held`, mergePatch, { metadata: { finalizers: null } });
  expect((await server.get(`${gearsIn(own)}/held`)).code).toBe(404);
});

test("field selectors see the defaults that an object is read with", async () => {
  const own = await server.namespace();
  await server.create(gearsIn(own), gear("a"));
  const definition = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gears.${group}`;
  const { json } = await server.get(definition);
  const mood = { type: "string", default: "good" };
  json.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.mood = mood;
  json.spec.versions[0].selectableFields.push({ jsonPath: ".spec.mood" });
  expect((await server.put(definition, json)).code).toBe(200);
  const selected = async (value: string) =>
    (await server.get(`${gearsIn(own)}?fieldSelector=spec.mood%3D${value}`)).json.items?.length;
  await until(async () => (await selected("good")) === 1);
  expect(await selected("bad")).toBe(0);
  await using watch = await server.watch(`${gearsIn(own)}?fieldSelector=spec.mood%3Dgood`);
  expect(await watch.next()).toMatchObject({ type: "ADDED", object: { spec: { mood: "good" } } });
});

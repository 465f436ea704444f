import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { policySettleMs } from "../../src/controllers/policy-type-checking.ts";
import { type Clock, systemClock } from "../../src/process/clock.ts";
import { until } from "../until.ts";
import { auditLine } from "./audit-line.ts";
import { jsonPatch, mergePatch, TestServer } from "./server.ts";

/** Admission policies on a running server: they are in force as soon as their write is acknowledged. */
const group = "/apis/admissionregistration.k8s.io/v1";
const directory = mkdtempSync(join(tmpdir(), "policies-"));
const auditLog = join(directory, "audit.log");
/** Checks the types of policies at once. */
const impatientClock: Clock = {
  ...systemClock,
  after: (delayMs, run) => systemClock.after(delayMs === policySettleMs ? 0 : delayMs, run),
};
let server: TestServer;

beforeAll(async () => {
  const tokenAuthFile = join(directory, "tokens.csv");
  writeFileSync(tokenAuthFile, "clerk-token,clerk,clerk");
  const auditPolicyFile = join(directory, "audit.yaml");
  writeFileSync(auditPolicyFile, "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n");
  server = await TestServer.start({
    authorizationMode: ["RBAC"],
    tokenAuthFile,
    auditPolicyFile,
    auditLogPath: auditLog,
    clock: impatientClock,
  });
});
afterAll(async () => {
  await server.close();
  rmSync(directory, { recursive: true });
});

const rule = (resources: string[], operations = ["CREATE", "UPDATE"], apiGroups = [""], apiVersions = ["*"]) => ({
  resourceRules: [{ operations, apiGroups, apiVersions, resources }],
});

/** Limits a policy to a namespace, so that tests do not disturb each other. */
const only = (namespace: string) => ({
  namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
});

let count = 0;

async function validating(namespace: string, spec: object, binding: object = {}): Promise<string> {
  const name = `p${++count}.example.com`;
  const matchConstraints = { ...rule(["configmaps"]), ...only(namespace) };
  await server.create(`${group}/validatingadmissionpolicies`, {
    metadata: { name },
    spec: { matchConstraints, ...spec },
  });
  await server.create(`${group}/validatingadmissionpolicybindings`, {
    metadata: { name },
    spec: { policyName: name, validationActions: ["Deny"], ...binding },
  });
  return name;
}

async function mutating(namespace: string, spec: object, binding: object = {}): Promise<string> {
  const name = `m${++count}.example.com`;
  const matchConstraints = { ...rule(["configmaps"]), ...only(namespace) };
  await server.create(`${group}/mutatingadmissionpolicies`, {
    metadata: { name },
    spec: { matchConstraints, reinvocationPolicy: "Never", ...spec },
  });
  await server.create(`${group}/mutatingadmissionpolicybindings`, {
    metadata: { name },
    spec: { policyName: name, ...binding },
  });
  return name;
}

const maps = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`;
const write = (namespace: string, name: string, data: object = {}) =>
  server.post(maps(namespace), { metadata: { name }, data });
const apply = (expression: string) => ({
  patchType: "ApplyConfiguration",
  applyConfiguration: { expression },
});
const patch = (expression: string) => ({ patchType: "JSONPatch", jsonPatch: { expression } });

describe("a validating policy", () => {
  test("is in force from its acknowledgement to its removal", async () => {
    const namespace = await server.namespace();
    const name = await validating(namespace, { validations: [{ expression: "object.metadata.name != 'bad'" }] });
    const { code, json } = await write(namespace, "bad");
    expect(code).toBe(422);
    const denied = `ValidatingAdmissionPolicy '${name}' with binding '${name}' denied request: failed expression: object.metadata.name != 'bad'`;
    expect(json).toMatchObject({
      message: `configmaps "bad" is forbidden: ${denied}`,
      reason: "Invalid",
      details: { name: "bad", kind: "configmaps", causes: [{ message: denied }] },
    });
    expect((await write(namespace, "good")).code).toBe(201);
    await server.delete(`${group}/validatingadmissionpolicybindings/${name}`);
    expect((await write(namespace, "bad")).code).toBe(201);
  });

  test("warns and annotates the audit event", async () => {
    const namespace = await server.namespace();
    const name = await validating(
      namespace,
      {
        variables: [{ name: "size", expression: "size(object.data)" }],
        validations: [{ expression: "variables.size < 1", messageExpression: "'has ' + string(variables.size)" }],
        auditAnnotations: [{ key: "size", valueExpression: "string(variables.size)" }],
      },
      { validationActions: ["Warn", "Audit"] },
    );
    const { code, headers } = await write(namespace, "x", { a: "b" });
    expect(code).toBe(201);
    expect(headers.get("warning")).toBe(
      `299 - "Validation failed for ValidatingAdmissionPolicy '${name}' with binding '${name}': has 1"`,
    );
    const event = JSON.parse(await auditLine(auditLog, headers.get("audit-id") ?? ""));
    expect(event.annotations).toMatchObject({
      [`${name}/size`]: "1",
      "validation.policy.admission.k8s.io/validation_failure": JSON.stringify([
        { message: "has 1", policy: name, binding: name, expressionIndex: 0, validationActions: ["Warn", "Audit"] },
      ]),
    });
  });

  test("follows its parameters as they change", async () => {
    const namespace = await server.namespace();
    const paramRef = { name: "limit", parameterNotFoundAction: "Deny" };
    await validating(
      namespace,
      {
        paramKind: { apiVersion: "v1", kind: "Secret" },
        validations: [{ expression: "size(object.data) <= int(params.metadata.labels.max)" }],
      },
      { paramRef },
    );
    const missing = await write(namespace, "a", { a: "" });
    expect(missing.json.message).toContain("no params found for policy binding with `Deny` parameterNotFoundAction");
    const secret = `/api/v1/namespaces/${namespace}/secrets`;
    await server.create(secret, { metadata: { name: "limit", labels: { max: "0" } } });
    expect((await write(namespace, "a", { a: "" })).code).toBe(422);
    await server.patch(`${secret}/limit`, mergePatch, { metadata: { labels: { max: "1" } } });
    expect((await write(namespace, "a", { a: "" })).code).toBe(201);
  });

  test("asks the authorizer, and knows the namespace and the request", async () => {
    const namespace = await server.namespace();
    await validating(namespace, {
      matchConditions: [{ name: "named", expression: "request.name == 'asked'" }],
      validations: [
        { expression: "authorizer.requestResource.check('delete').allowed()", reason: "Forbidden" },
        {
          expression: `namespaceObject.metadata.name == '${namespace}' && request.dryRun && request.options.dryRun == ['All']`,
        },
        {
          expression:
            "!authorizer.serviceAccount('default', 'none').group('').resource('pods').check('list').allowed()",
        },
      ],
    });
    const asked = { metadata: { name: "asked" } };
    expect((await server.post(`${maps(namespace)}?dryRun=All`, asked)).code).toBe(201);
    expect((await server.post(maps(namespace), asked)).code).toBe(422);
    expect((await write(namespace, "other")).code).toBe(201);
  });

  test("sees a request in the version that it matches", async () => {
    const namespace = await server.namespace();
    await validating(namespace, {
      matchConstraints: {
        ...rule(["horizontalpodautoscalers"], ["CREATE"], ["autoscaling"], ["v1"]),
        ...only(namespace),
      },
      validations: [
        {
          expression:
            "request.kind.version == 'v1' && request.requestKind.version == 'v2' && object.spec.targetCPUUtilizationPercentage < 50",
        },
      ],
    });
    const scaler = (averageUtilization: number) => ({
      metadata: { name: `h${averageUtilization}` },
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "x" },
        maxReplicas: 3,
        metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization } } }],
      },
    });
    const path = `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`;
    expect((await server.post(path, scaler(40))).code).toBe(201);
    expect((await server.post(path, scaler(60))).code).toBe(422);
  });

  test("judges an eviction instead of the deletion that it causes", async () => {
    const namespace = await server.namespace();
    await validating(namespace, {
      matchConstraints: { ...rule(["pods", "pods/eviction"], ["CREATE", "DELETE"]), ...only(namespace) },
      validations: [
        { expression: "request.operation != 'DELETE'", message: "no deletions" },
        { expression: "!has(request.subResource) || object.metadata.name != 'kept'", message: "no eviction" },
      ],
    });
    await until(async () => (await server.get(`/api/v1/namespaces/${namespace}/serviceaccounts/default`)).code === 200);
    const pods = `/api/v1/namespaces/${namespace}/pods`;
    const evict = (name: string) =>
      server.post(`${pods}/${name}/eviction`, { apiVersion: "policy/v1", kind: "Eviction", metadata: { name } });
    for (const name of ["kept", "gone"]) {
      await server.create(pods, { metadata: { name }, spec: { containers: [{ name: "c", image: "i" }] } });
    }
    expect((await server.delete(`${pods}/gone`)).json.message).toEndWith("no deletions");
    expect((await evict("kept")).json.message).toEndWith("no eviction");
    expect((await evict("gone")).code).toBe(201);
  });

  test("sees subresources, deletions and connections", async () => {
    const namespace = await server.namespace();
    await validating(namespace, {
      matchConstraints: { ...rule(["pods/exec", "configmaps"], ["CONNECT", "DELETE"]), ...only(namespace) },
      validations: [
        {
          expression: "request.operation == 'DELETE' ? oldObject.metadata.name != 'kept' : !('sh' in object.command)",
          message: "never",
        },
      ],
    });
    await write(namespace, "kept");
    expect((await server.delete(`${maps(namespace)}/kept`)).json.message).toEndWith("denied request: never");
    const exec = await server.post(`/api/v1/namespaces/${namespace}/pods/p/exec?command=sh`, undefined);
    expect(exec.json).toMatchObject({ code: 422, details: { name: "p", kind: "pods" } });
    expect((await server.post(`/api/v1/namespaces/${namespace}/pods/p/exec?command=ls`, undefined)).code).toBe(404);
  });

  test("does not apply to policies", async () => {
    const deny = {
      matchConstraints: rule(["*"], ["*"], ["admissionregistration.k8s.io"]),
      validations: [{ expression: "false" }],
    };
    const name = await validating("none", deny);
    expect((await server.delete(`${group}/validatingadmissionpolicies/${name}`)).code).toBe(200);
  });

  test("with Ignore accepts what it cannot judge", async () => {
    const namespace = await server.namespace();
    const validations = [{ expression: "object.nothing == 1" }];
    const name = await validating(namespace, { failurePolicy: "Ignore", validations });
    expect((await write(namespace, "x")).code).toBe(201);
    await server.patch(`${group}/validatingadmissionpolicies/${name}`, mergePatch, { spec: { failurePolicy: "Fail" } });
    expect((await write(namespace, "y")).json.message).toEndWith(
      "expression 'object.nothing == 1' resulted in error: no such key: nothing",
    );
  });

  test("stops when its expressions cost too much", async () => {
    const namespace = await server.namespace();
    const loop = "[0,1,2,3,4,5,6,7,8,9]".concat(
      ".all(a, [0,1,2,3,4,5,6,7,8,9]".repeat(5),
      ".all(b, true)",
      ")".repeat(5),
    );
    await validating(namespace, { validations: [{ expression: loop }] });
    expect((await write(namespace, "x")).json.message).toContain("operation cancelled: actual cost limit exceeded");
  });
});

describe("a mutating policy", () => {
  test("applies configurations and patches, in order of the policies", async () => {
    const namespace = await server.namespace();
    await mutating(namespace, {
      mutations: [
        apply("Object{metadata: Object.metadata{labels: {'a': 'b'}}, data: {'first': object.metadata.name}}"),
        patch(
          "[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('example.com/b'), value: object.data.first}]",
        ),
        patch("[JSONPatch{op: 'test', path: '/data/first', value: 'no'}, JSONPatch{op: 'remove', path: '/data'}]"),
      ],
    });
    await mutating(namespace, { mutations: [apply("Object{data: {'second': string(size(object.data))}}")] });
    const { json } = await write(namespace, "x", { own: "1" });
    expect(json.data).toEqual({ first: "x", own: "1", second: "2" });
    expect(json.metadata.labels).toEqual({ a: "b", "example.com/b": "x" });
  });

  test("is denied with the reasons of all mutations that fail", async () => {
    const namespace = await server.namespace();
    const name = await mutating(namespace, {
      mutations: [
        apply("Object{metadata: Object.spec{}}"),
        patch("[JSONPatch{op: 'remove', path: '/none/x'}]"),
        apply("Object{nothing: 1}"),
      ],
    });
    const { code, json } = await write(namespace, "x");
    const by = `policy '${name}' with binding '${name}' denied request:`;
    expect({ code, reason: json.reason, causes: json.details.causes }).toEqual({
      code: 403,
      reason: "Invalid",
      causes: [
        {
          message: `${by} type mismatch: unexpected type name "Object.spec", expected "Object.metadata", which matches field name path from root Object type`,
        },
        { message: `${by} JSON Patch: remove operation does not apply: doc is missing path: "/none/x": missing value` },
        {
          message: `${by} error applying patch: failed to convert patch object to typed object: .nothing: field not declared in schema`,
        },
      ],
    });
  });

  test("refuses to replace what is owned as a whole", async () => {
    const namespace = await server.namespace();
    await mutating(namespace, {
      matchConstraints: { ...rule(["pods"]), ...only(namespace) },
      mutations: [apply("Object{spec: Object.spec{nodeSelector: {'a': 'b'}}}")],
    });
    const pod = { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } };
    const { json } = await server.post(`/api/v1/namespaces/${namespace}/pods?dryRun=All`, pod);
    expect(json.message).toContain("may not mutate atomic arrays, maps or structs: .spec.nodeSelector");
  });

  test("runs again after others if it asks for that", async () => {
    const namespace = await server.namespace();
    const count = apply("Object{data: {'count': string(size(object.data))}}");
    await mutating(namespace, { reinvocationPolicy: "IfNeeded", mutations: [count] });
    await mutating(namespace, { mutations: [apply("Object{data: {'late': 'x'}}")] });
    const { json } = await write(namespace, "x", { own: "1" });
    expect(json.data).toEqual({ count: "3", late: "x", own: "1" });
  });

  test("changes patched objects too, and owns nothing", async () => {
    const namespace = await server.namespace();
    await mutating(namespace, {
      matchConstraints: { ...rule(["configmaps"], ["UPDATE"]), ...only(namespace) },
      mutations: [apply("Object{data: {'seen': string('a' in oldObject.data)}}")],
    });
    await write(namespace, "x", { a: "1" });
    const operations = [{ op: "add", path: "/data/b", value: "2" }];
    const { json } = await server.patch(`${maps(namespace)}/x?fieldManager=m`, jsonPatch, operations);
    expect(json.data).toEqual({ a: "1", b: "2", seen: "true" });
    const owner = json.metadata.managedFields.find(({ manager }: { manager: string }) => manager === "m");
    expect(owner.fieldsV1).toEqual({ "f:data": { "f:b": {} } });
  });
});

test("custom kinds are parameters, and are changed by their schemas", async () => {
  const namespace = await server.namespace();
  const schema = {
    type: "object",
    properties: {
      max: { type: "integer" },
      parts: { type: "object", properties: { a: { type: "string", default: "d" }, b: { type: "string" } } },
    },
  };
  await server.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    metadata: { name: "limits.stable.example.com" },
    spec: {
      group: "stable.example.com",
      scope: "Namespaced",
      names: { plural: "limits", singular: "limit", kind: "Limit" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  });
  const limits = `/apis/stable.example.com/v1/namespaces/${namespace}/limits`;
  await until(async () => (await server.get(limits)).code === 200);
  await mutating(namespace, {
    matchConstraints: { ...rule(["limits"], ["CREATE"], ["stable.example.com"]), ...only(namespace) },
    mutations: [apply("Object{parts: Object.parts{b: 'x'}}")],
  });
  const kind = { apiVersion: "stable.example.com/v1", kind: "Limit" };
  const limit = await server.create(limits, { ...kind, metadata: { name: "l" }, max: 0 });
  expect(limit.parts).toEqual({ a: "d", b: "x" });
  await validating(
    namespace,
    { paramKind: kind, validations: [{ expression: "size(object.data) <= params.max" }] },
    { paramRef: { selector: {}, parameterNotFoundAction: "Allow" } },
  );
  expect((await write(namespace, "x", { a: "" })).code).toBe(422);
  await server.patch(`${limits}/l`, mergePatch, { max: 1 });
  expect((await write(namespace, "x", { a: "" })).code).toBe(201);
  await server.create(limits, { ...kind, metadata: { name: "m" }, max: 0 });
  expect((await write(namespace, "y", { a: "" })).code).toBe(422);
});

test("expressions are checked against the types of the kinds that a policy names", async () => {
  const path = `${group}/validatingadmissionpolicies/typed.example.com`;
  await server.create(`${group}/validatingadmissionpolicies`, {
    metadata: { name: "typed.example.com" },
    spec: {
      matchConstraints: rule(["deployments", "statefulsets/scale"], ["CREATE"], ["apps"], ["v1"]),
      variables: [{ name: "replicas", expression: "object.spec.replicas" }],
      validations: [{ expression: "object.spec.replicas > 1" }, { expression: "variables.replicas == 'x'" }],
    },
  });
  const warning =
    "apps/v1, Kind=Deployment: ERROR: <input>:1:20: found no matching overload for '_==_' applied to '(int, string)'\n | variables.replicas == 'x'\n | ...................^\n";
  await until(async () => (await server.get(path)).json.status?.observedGeneration === 1);
  expect((await server.get(path)).json.status).toEqual({
    observedGeneration: 1,
    typeChecking: { expressionWarnings: [{ fieldRef: "spec.validations[1].expression", warning }] },
  });
});

test("a user needs permission to read the parameters of a binding", async () => {
  const role = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "policy-writer" };
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  await server.create(`${rbac}/clusterroles`, {
    metadata: { name: role.name },
    rules: [{ apiGroups: ["admissionregistration.k8s.io"], resources: ["*"], verbs: ["*"] }],
  });
  const subjects = [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "clerk" }];
  await server.create(`${rbac}/clusterrolebindings`, { metadata: { name: role.name }, roleRef: role, subjects });
  const as = { token: "clerk-token" };
  const policy = {
    metadata: { name: "secret.example.com" },
    spec: {
      paramKind: { apiVersion: "v1", kind: "Secret" },
      matchConstraints: rule(["configmaps"]),
      validations: [{ expression: "true" }],
    },
  };
  const refused = await server.post(`${group}/validatingadmissionpolicies`, policy, as);
  expect({ code: refused.code, message: refused.json.message }).toEqual({
    code: 422,
    message:
      'ValidatingAdmissionPolicy.admissionregistration.k8s.io "secret.example.com" is invalid: spec.paramKind: Forbidden: user clerk must have "get" permission on all objects of the referenced paramKind (kind=Secret, apiVersion=v1)',
  });
  await server.create(`${group}/validatingadmissionpolicies`, policy);
  const paramRef = { name: "s", namespace: "default", parameterNotFoundAction: "Allow" };
  const binding = {
    metadata: { name: "secret.example.com" },
    spec: { policyName: "secret.example.com", validationActions: ["Deny"], paramRef },
  };
  const unbound = await server.post(`${group}/validatingadmissionpolicybindings`, binding, as);
  expect(unbound.json.message).toEndWith(
    'spec.paramRef: Forbidden: user clerk does not have "get" permission on the object referenced by paramRef',
  );
});

test("policies are counted under upstream's names", async () => {
  const namespace = await server.namespace();
  const name = await validating(namespace, {
    matchConditions: [{ name: "n", expression: "object.metadata.name != 'skipped'" }],
    validations: [{ expression: "object.metadata.name != 'bad'" }, { expression: "object.data.none == 'x'" }],
  });
  const mutator = await mutating(namespace, {
    mutations: [patch('[JSONPatch{op: "test", path: "/kind", value: "x"}]')],
  });
  await write(namespace, "bad");
  await write(namespace, "skipped");
  const { text } = await server.get("/metrics");
  const check = (error: string) =>
    `apiserver_validating_admission_policy_check_total{policy="${name}",policy_binding="${name}",error_type="${error}",enforcement_action="deny"} 2`;
  expect(text).toContain(check("invalid_error"));
  expect(text).toContain(
    `apiserver_mutating_admission_policy_check_total{policy="${mutator}",policy_binding="${mutator}",error_type="no_error"} 2`,
  );
  expect(text).toContain(
    `apiserver_admission_match_condition_evaluation_seconds_count{name="${name}",kind="policy",type="validate",operation="CREATE"} 1`,
  );
  expect(text).toMatch(
    /apiserver_admission_controller_admission_duration_seconds_count\{name="ValidatingAdmissionPolicy",type="validate",operation="CREATE",rejected="true"\} [0-9]+/,
  );
});

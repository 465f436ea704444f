import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mergePatch, TestServer } from "./server.ts";

let server: TestServer;
let namespace: string;
beforeAll(async () => {
  server = await TestServer.start();
  namespace = await server.namespace();
});
afterAll(() => server.close());

const inNamespace = (path: string, resource: string) => `${path}/namespaces/${namespace}/${resource}`;
const label =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

describe("invalid objects are rejected with upstream's complete messages", () => {
  test("a Service", async () => {
    const service = { metadata: { name: "web" }, spec: { ports: [{ port: 0 }, { name: "A", port: 80 }] } };
    const { code, json } = await server.post(inNamespace("/api/v1", "services"), service);
    expect(code).toBe(422);
    const range = "must be between 1 and 65535, inclusive";
    expect(json).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: `Service "web" is invalid: [spec.ports[0].name: Required value, spec.ports[0].port: Invalid value: 0: ${range}, spec.ports[0].targetPort: Invalid value: 0: ${range}, spec.ports[1].name: Invalid value: "A": ${label}]`,
      reason: "Invalid",
      details: {
        name: "web",
        kind: "Service",
        causes: [
          { reason: "FieldValueRequired", message: "Required value", field: "spec.ports[0].name" },
          { reason: "FieldValueInvalid", message: `Invalid value: 0: ${range}`, field: "spec.ports[0].port" },
          { reason: "FieldValueInvalid", message: `Invalid value: 0: ${range}`, field: "spec.ports[0].targetPort" },
          { reason: "FieldValueInvalid", message: `Invalid value: "A": ${label}`, field: "spec.ports[1].name" },
        ],
      },
      code: 422,
    });
  });

  test("an Ingress", async () => {
    const ingress = {
      metadata: { name: "web" },
      spec: { rules: [{ host: "10.0.0.1", http: { paths: [{ path: "x", pathType: "Prefix", backend: {} }] } }] },
    };
    const { code, json } = await server.post(inNamespace("/apis/networking.k8s.io/v1", "ingresses"), ingress);
    expect(code).toBe(422);
    expect(json.message).toBe(
      'Ingress.networking.k8s.io "web" is invalid: [spec.rules[0].host: Invalid value: "10.0.0.1": must be a DNS name, not an IP address, spec.rules[0].http.paths[0].path: Invalid value: "x": must be an absolute path, spec.rules[0].http.paths[0].backend: Invalid value: "": resource or service backend is required]',
    );
    expect(json.details).toMatchObject({ name: "web", group: "networking.k8s.io", kind: "Ingress" });
  });

  test("a CustomResourceDefinition", async () => {
    const definition = {
      metadata: { name: "widgets" },
      spec: {
        group: "example.com",
        scope: "Namespaced",
        names: { plural: "widgets", kind: "Widget" },
        versions: [{ name: "v1", served: true, storage: true }],
      },
    };
    const { code, json } = await server.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
    expect(code).toBe(422);
    expect(json.message).toBe(
      'CustomResourceDefinition.apiextensions.k8s.io "widgets" is invalid: [metadata.name: Invalid value: "widgets": must be spec.names.plural+"."+spec.group, spec.versions[0].schema.openAPIV3Schema: Required value]',
    );
  });

  test("a PersistentVolumeClaim", async () => {
    const claim = { metadata: { name: "data" }, spec: { accessModes: ["Sometimes"], storageClassName: "Fast" } };
    const { code, json } = await server.post(inNamespace("/api/v1", "persistentvolumeclaims"), claim);
    expect(code).toBe(422);
    expect(json.details.causes).toEqual([
      {
        reason: "FieldValueNotSupported",
        message:
          'Unsupported value: "Sometimes": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
        field: "spec.accessModes",
      },
      { reason: "FieldValueRequired", message: "Required value", field: "spec.resources[storage]" },
      { reason: "FieldValueInvalid", message: `Invalid value: "Fast": ${subdomain}`, field: "spec.storageClassName" },
    ]);
  });
});

test("rules hold for patches, and a dry run is refused like the real one", async () => {
  const path = inNamespace("/apis/rbac.authorization.k8s.io/v1", "rolebindings");
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" };
  await server.create(path, { metadata: { name: "viewers" }, roleRef });
  const message =
    'RoleBinding.rbac.authorization.k8s.io "viewers" is invalid: roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"ClusterRole","Name":"edit"}: cannot change roleRef';
  for (const query of ["", "?dryRun=All"]) {
    const { code, json } = await server.patch(`${path}/viewers${query}`, mergePatch, { roleRef: { name: "edit" } });
    expect({ code, message: json.message }).toEqual({ code: 422, message });
  }
  expect((await server.get(`${path}/viewers`)).json.roleRef).toEqual(roleRef);
});

test("an immutable ConfigMap stays as it is", async () => {
  const path = inNamespace("/api/v1", "configmaps");
  await server.create(path, { metadata: { name: "frozen" }, data: { a: "1" }, immutable: true });
  const { code, json } = await server.patch(`${path}/frozen`, mergePatch, { data: { a: "2" } });
  expect(code).toBe(422);
  expect(json.message).toBe(
    'ConfigMap "frozen" is invalid: data: Forbidden: field is immutable when `immutable` is set',
  );
  expect((await server.patch(`${path}/frozen`, mergePatch, { metadata: { labels: { a: "b" } } })).code).toBe(200);
});

test("spec and status are written apart, and changes of the spec count", async () => {
  const path = inNamespace("/apis/networking.k8s.io/v1", "ingresses");
  const spec = { defaultBackend: { service: { name: "web", port: { number: 80 } } } };
  const status = { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } };
  const created = await server.create(path, { metadata: { name: "split" }, spec, status });
  expect(created).toMatchObject({ metadata: { generation: 1 }, status: { loadBalancer: {} } });
  const byStatus = await server.put(`${path}/split/status`, {
    ...created,
    spec: { ingressClassName: "x", ...spec },
    status,
  });
  expect(byStatus.json).toMatchObject({ metadata: { generation: 1 }, spec, status });
  expect(byStatus.json.spec).toEqual(spec);
  const { json } = await server.patch(`${path}/split`, mergePatch, { spec: { ingressClassName: "x" }, status: null });
  expect(json).toMatchObject({ metadata: { generation: 2 }, spec: { ingressClassName: "x" }, status });
});

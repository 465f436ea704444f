import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, created, refusal, updated, updateRefusal } from "../testing.ts";

const path = "networking.k8s.io/v1/ingresses";
const backend = { service: { name: "web", port: { number: 80 } } };
const minimal: JsonObject = { spec: { defaultBackend: backend } };
const rich: JsonObject = {
  spec: {
    ingressClassName: "internal",
    defaultBackend: { resource: { apiGroup: "example.com", kind: "Bucket", name: "static" } },
    tls: [{ hosts: ["shop.example.com", "*.example.com"], secretName: "shop-tls" }],
    rules: [
      {
        host: "shop.example.com",
        http: {
          paths: [
            { path: "/cart", pathType: "Prefix", backend },
            { path: "/", pathType: "Exact", backend: { service: { name: "web", port: { name: "http" } } } },
            { pathType: "ImplementationSpecific", backend },
          ],
        },
      },
      { host: "*.example.com", http: { paths: [{ path: "/", pathType: "Prefix", backend }] } },
    ],
  },
};
const dns1123Rule =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const httpPath = "spec.rules[0].http.paths[0]";

test.each([
  ["a default backend", minimal],
  ["rules of every kind", rich],
])("an Ingress with %s is accepted", async (_, ingress) => {
  expect(await refusal(path, ingress)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["spec", {}, ["spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"]],
  ["spec.rules[0].host", "Shop", [`spec.rules[0].host: Invalid value: "Shop": ${dns1123Rule}`]],
  [
    "spec.rules[0].host",
    "10.0.0.1",
    ['spec.rules[0].host: Invalid value: "10.0.0.1": must be a DNS name, not an IP address'],
  ],
  [`${httpPath}.path`, "cart", [`${httpPath}.path: Invalid value: "cart": must be an absolute path`]],
  [`${httpPath}.path`, "/a//b", [`${httpPath}.path: Invalid value: "/a//b": must not contain '//'`]],
  [`${httpPath}.pathType`, undefined, [`${httpPath}.pathType: Required value: pathType must be specified`]],
  [
    `${httpPath}.pathType`,
    "Regex",
    [`${httpPath}.pathType: Unsupported value: "Regex": supported values: "Exact", "ImplementationSpecific", "Prefix"`],
  ],
  [`${httpPath}.backend`, {}, [`${httpPath}.backend: Invalid value: "": resource or service backend is required`]],
  [
    `${httpPath}.backend.service.port`,
    { number: 80, name: "http" },
    [`${httpPath}.backend: Invalid value: "": cannot set both port name & port number`],
  ],
  [
    `${httpPath}.backend.service.port`,
    { number: 70_000 },
    [`${httpPath}.backend.service.port.number: Invalid value: 70000: must be between 1 and 65535, inclusive`],
  ],
  [`${httpPath}.backend.service.port`, {}, [`${httpPath}.backend: Required value: port name or number is required`]],
  [`${httpPath}.backend.service.name`, "", [`${httpPath}.backend.service.name: Required value`]],
  ["spec.rules[0].http.paths", [], ["spec.rules[0].http.paths: Required value"]],
  ["spec.tls[0].hosts[0]", "a_b", [`spec.tls[0].hosts[0]: Invalid value: "a_b": ${dns1123Rule}`]],
  ["spec.ingressClassName", "A", [`spec.ingressClassName: Invalid value: "A": ${dns1123Rule}`]],
])("an Ingress with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test("class by field and by annotation exclude each other, but only on creation", async () => {
  const annotated = { ...rich, metadata: { annotations: { "kubernetes.io/ingress.class": "nginx" } } };
  expect(await refusal(path, annotated)).toEqual([
    'annotations.kubernetes.io/ingress.class: Invalid value: "nginx": must match `ingressClassName` when both are specified',
  ]);
  expect(await updateRefusal(path, rich, annotated)).toEqual([]);
});

test("the status belongs to its subresource and changes of the spec count", async () => {
  const status = { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } };
  expect((await created(path, { ...minimal, status })).status).toEqual({ loadBalancer: {} });
  const withStatus = await updated(path, minimal, { ...rich, status }, "status");
  expect(withStatus).toMatchObject({ spec: minimal["spec"], status, metadata: { generation: 1 } });
  expect((await updated(path, minimal, rich)).metadata.generation).toBe(2);
  expect((await updated(path, minimal, minimal)).metadata.generation).toBe(1);
});

test("the addresses of a status are checked", async () => {
  const status = { loadBalancer: { ingress: [{ ip: "1.2.3" }, { hostname: "10.0.0.1" }] } };
  expect(await updateRefusal(path, minimal, { ...minimal, status }, "status")).toEqual([
    'status.loadBalancer.ingress[0].ip: Invalid value: "1.2.3": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    'status.loadBalancer.ingress[1].hostname: Invalid value: "10.0.0.1": must be a DNS name, not an IP address',
  ]);
});

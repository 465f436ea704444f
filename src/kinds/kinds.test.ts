import { describe, expect, test } from "bun:test";
import { type FieldError, fieldErrorText } from "../api/field-error.ts";
import type { JsonObject } from "../api/json.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { validateLease } from "./coordination/validation/lease.ts";
import { validateConfigMap, validateConfigMapUpdate } from "./core/validation/config-map.ts";
import { validateNamespace, validateNamespaceStatusUpdate } from "./core/validation/namespace.ts";
import { validateNode, validateNodeUpdate } from "./core/validation/node.ts";
import { validateSecret, validateSecretUpdate } from "./core/validation/secret.ts";

const object = (fields: JsonObject, metadata: KubeObject["metadata"] = { name: "a", namespace: "n" }): KubeObject => ({
  apiVersion: "v1",
  kind: "Kind",
  ...fields,
  metadata,
});
const texts = (errors: readonly FieldError[]) => errors.map(fieldErrorText);
const base64 = (text: string) => Buffer.from(text).toString("base64");
const dockerConfig = { type: "kubernetes.io/dockercfg", data: { ".dockercfg": base64("{") } };

describe("one object is refused", () => {
  type Rule = (object: KubeObject) => FieldError[];
  const big = "x".repeat(1024 * 1024);
  const cases: readonly [string, Rule, JsonObject, string][] = [
    [
      "a ConfigMap with a bad key",
      validateConfigMap,
      { data: { "a b": "" } },
      'data[a b]: Invalid value: "a b": a valid',
    ],
    [
      "a ConfigMap with a key twice",
      validateConfigMap,
      { data: { a: "" }, binaryData: { a: "" } },
      'data[a]: Invalid value: "a": duplicate of key present in binaryData',
    ],
    [
      "a ConfigMap that is too large",
      validateConfigMap,
      { data: { a: big, b: "x" } },
      "[]: Too long: may not be more than 1048576 bytes",
    ],
    [
      "a Secret that is too large",
      validateSecret,
      { data: { a: base64(`${big}x`) } },
      "data: Too long: may not be more than 1048576 bytes",
    ],
    [
      "a TLS Secret without a key",
      validateSecret,
      { type: "kubernetes.io/tls", data: { "tls.crt": "" } },
      "data[tls.key]: Required value",
    ],
    [
      "a docker Secret that is no JSON",
      validateSecret,
      dockerConfig,
      'data[.dockercfg]: Invalid value: "<secret contents redacted>": unexpected end of JSON input',
    ],
    [
      "a basic auth Secret without either key",
      validateSecret,
      { type: "kubernetes.io/basic-auth" },
      "data[username]: Required value",
    ],
    [
      "a token Secret without its account",
      validateSecret,
      { type: "kubernetes.io/service-account-token" },
      "metadata.annotations[kubernetes.io/service-account.name]: Required value",
    ],
    [
      "a Namespace with an unknown finalizer",
      validateNamespace,
      { spec: { finalizers: ["x"] } },
      'spec.finalizers: Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified',
    ],
    [
      "a Namespace that terminates without deletion",
      validateNamespaceStatusUpdate,
      { status: { phase: "Terminating" } },
      "status.Phase: Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty",
    ],
    [
      "a Lease without duration",
      validateLease,
      { spec: { leaseDurationSeconds: 0 } },
      "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
    ],
    [
      "a Lease with a preferred holder only",
      validateLease,
      { spec: { preferredHolder: "x" } },
      "spec.preferredHolder: Forbidden: may only be specified if `strategy` is defined",
    ],
    [
      "a Node with a taint twice",
      validateNode,
      {
        spec: {
          taints: [
            { key: "a", effect: "NoExecute" },
            { key: "a", effect: "NoExecute", value: "b" },
          ],
        },
      },
      "metadata.taints[1]: Duplicate value",
    ],
    [
      "a Node with an unknown effect",
      validateNode,
      { spec: { taints: [{ key: "a", effect: "No" }] } },
      'metadata.taints[0].effect: Unsupported value: "No": supported values: "NoSchedule"',
    ],
    [
      "a Node with two ranges of a family",
      validateNode,
      { spec: { podCIDRs: ["10.0.0.0/24", "10.0.1.0/24"] } },
      "spec.podCIDRs: Invalid value",
    ],
    [
      "a Node with a negative capacity",
      validateNode,
      { status: { capacity: { cpu: "-1" } } },
      'status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0',
    ],
  ];
  test.each(cases)("%s", (_, rule, fields, message) => {
    expect(texts(rule(object(fields))).filter((text) => text.startsWith(message)).length).toBe(1);
  });
});

describe("one object is accepted", () => {
  test.each([
    ["a ConfigMap", validateConfigMap, { data: { a: "x" }, binaryData: { b: "eA==" } }],
    ["an opaque Secret", validateSecret, { type: "Opaque", data: { a: "eA==" } }],
    ["a docker Secret", validateSecret, { ...dockerConfig, data: { ".dockercfg": base64("{}") } }],
    ["a Namespace", validateNamespace, { spec: { finalizers: ["kubernetes", "a.io/b"] } }],
    ["a Lease", validateLease, { spec: { leaseDurationSeconds: 1, strategy: "a.io/b", preferredHolder: "x" } }],
    ["a Node", validateNode, { spec: { podCIDR: "10.0.0.0/24", podCIDRs: ["10.0.0.0/24", "fd00::/64"] } }],
  ] as [string, (object: KubeObject) => FieldError[], JsonObject][])("%s", (_, rule, fields) => {
    expect(texts(rule(object(fields)))).toEqual([]);
  });
});

describe("an update is refused", () => {
  const frozen = object({ immutable: true, data: { a: "1" }, type: "Opaque" });
  const text = "Forbidden: field is immutable when `immutable` is set";
  test("of a frozen ConfigMap or Secret", () => {
    const thawed = object({ data: { a: "2" }, type: "Opaque" });
    expect(texts(validateConfigMapUpdate(thawed, frozen))).toEqual([`immutable: ${text}`, `data: ${text}`]);
    expect(texts(validateSecretUpdate(thawed, frozen))).toEqual([`immutable: ${text}`, `data: ${text}`]);
    expect(validateConfigMapUpdate(frozen, thawed)).toEqual([]);
  });

  test("of the type of a Secret", () => {
    expect(texts(validateSecretUpdate(object({ type: "x" }), object({ type: "y" })))).toEqual([
      'type: Invalid value: "x": field is immutable',
    ]);
  });

  test("of the ranges and the provider of a Node, once set", () => {
    const old = object({ spec: { podCIDRs: ["10.0.0.0/24"], providerID: "x" } });
    expect(validateNodeUpdate(object({ spec: { podCIDRs: ["10.0.1.0/24"], providerID: "y" } }), old).length).toBe(2);
    expect(validateNodeUpdate(old, object({}))).toEqual([]);
  });
});

import { describe, expect, test } from "bun:test";
import { parseAuthorizationConfiguration } from "./authorization-configuration.ts";

const header = { apiVersion: "apiserver.config.k8s.io/v1", kind: "AuthorizationConfiguration" };
const webhook = {
  timeout: "3s",
  subjectAccessReviewVersion: "v1",
  matchConditionSubjectAccessReviewVersion: "v1",
  failurePolicy: "Deny",
  connectionInfo: { type: "KubeConfigFile", kubeConfigFile: import.meta.path },
};

function parse(value: unknown) {
  return parseAuthorizationConfiguration(new TextEncoder().encode(JSON.stringify(value)));
}
const withAuthorizers = (...authorizers: unknown[]) => parse({ ...header, authorizers });
const withWebhook = (changes: object) =>
  withAuthorizers({ type: "Webhook", name: "w", webhook: { ...webhook, ...changes } });

test("every field, with its default", () => {
  expect(withAuthorizers({ type: "Node", name: "node" }, { type: "Webhook", name: "w", webhook })).toEqual([
    { type: "Node", name: "node" },
    {
      type: "Webhook",
      name: "w",
      webhook: {
        authorizedTtlMs: 300_000,
        unauthorizedTtlMs: 30_000,
        timeoutMs: 3_000,
        version: "v1",
        failurePolicy: "Deny",
        connection: { type: "KubeConfigFile", file: import.meta.path },
        expressions: [],
      },
    },
  ]);
  const off = { cacheAuthorizedRequests: false, cacheUnauthorizedRequests: false, authorizedTTL: "1m" };
  expect(withWebhook(off)).toMatchObject([{ webhook: { authorizedTtlMs: 0, unauthorizedTtlMs: 0 } }]);
});

test("YAML is read too", () => {
  const text =
    "apiVersion: apiserver.config.k8s.io/v1beta1\nkind: AuthorizationConfiguration\nauthorizers:\n- {type: RBAC, name: r}\n";
  expect(parseAuthorizationConfiguration(new TextEncoder().encode(text))).toEqual([{ type: "RBAC", name: "r" }]);
});

describe("is rejected", () => {
  test.each<[unknown, string]>([
    [{ ...header, kind: "Other", authorizers: [] }, "the file is no AuthorizationConfiguration"],
    [{ ...header, apiVersion: "v1", authorizers: [] }, "the file is no AuthorizationConfiguration"],
    [header, "authorizers: Required value: at least one authorization mode must be defined"],
    [
      { ...header, authorisers: [], authorizers: [{ type: "RBAC", name: "r" }] },
      "authorisers: Invalid value: unknown field",
    ],
  ])("%j", (value, message) => {
    expect(() => parse(value)).toThrow(message);
  });

  test.each<[unknown[], string]>([
    [[{ name: "a" }], "authorizers[0].type: Required value"],
    [[{ type: "Magic", name: "a" }], 'authorizers[0].type: Unsupported value: "Magic"'],
    [[{ type: "RBAC" }], "authorizers[0].name: Required value"],
    [[{ type: "RBAC", name: "No" }], 'authorizers[0].name: Invalid value: "No"'],
    [
      [
        { type: "RBAC", name: "a" },
        { type: "Node", name: "a" },
      ],
      'authorizers[1].name: Duplicate value: "a"',
    ],
    [
      [
        { type: "RBAC", name: "a" },
        { type: "RBAC", name: "b" },
      ],
      'authorizers[1].type: Duplicate value: "RBAC"',
    ],
    [
      [{ type: "RBAC", name: "a", webhook: {} }],
      "authorizers[0].webhook: Forbidden: may only be specified when type=Webhook",
    ],
    [[{ type: "Webhook", name: "a" }], "authorizers[0].webhook: Required value: required when type=Webhook"],
  ])("%j", (authorizers, message) => {
    expect(() => withAuthorizers(...authorizers)).toThrow(message);
  });

  test.each<[object, string]>([
    [{ timeout: undefined }, "webhook.timeout: Required value"],
    [{ timeout: "31s" }, 'webhook.timeout: Invalid value: "31s": must be <= 30s'],
    [{ timeout: "0s" }, 'webhook.timeout: Invalid value: "0s": must be > 0s'],
    [{ timeout: "soon" }, "webhook.timeout: Invalid value"],
    [{ authorizedTTL: "-1s" }, "webhook.authorizedTTL: Invalid value"],
    [{ unauthorizedTTL: 5 }, "webhook.unauthorizedTTL: Invalid value: 5"],
    [{ subjectAccessReviewVersion: undefined }, "subjectAccessReviewVersion: Required value"],
    [{ subjectAccessReviewVersion: "v2" }, 'Unsupported value: "v2": supported values: "v1", "v1beta1"'],
    [
      { matchConditionSubjectAccessReviewVersion: undefined },
      "matchConditionSubjectAccessReviewVersion: Required value",
    ],
    [{ matchConditionSubjectAccessReviewVersion: "v1beta1" }, 'Unsupported value: "v1beta1": supported values: "v1"'],
    [{ failurePolicy: undefined }, "failurePolicy: Required value"],
    [{ failurePolicy: "Allow" }, 'Unsupported value: "Allow": supported values: "Deny", "NoOpinion"'],
    [{ connectionInfo: undefined }, "connectionInfo.type: Required value"],
    [{ connectionInfo: { type: "KubeConfigFile" } }, "kubeConfigFile: Required value"],
    [{ connectionInfo: { type: "KubeConfigFile", kubeConfigFile: "here" } }, "must be an absolute path"],
    [{ connectionInfo: { type: "KubeConfigFile", kubeConfigFile: "/not/there" } }, "the file does not exist"],
    [{ connectionInfo: { type: "KubeConfigFile", kubeConfigFile: "/" } }, "must be a regular file"],
    [{ connectionInfo: { type: "InClusterConfig", kubeConfigFile: "/a" } }, "can only be set when type=KubeConfigFile"],
    [
      { matchConditions: Array.from({ length: 65 }, () => ({ expression: "true" })) },
      "Too many: 65: must have at most 64 items",
    ],
    [{ matchConditions: [{}] }, "matchConditions[0].expression: Required value"],
    [{ cacheAuthorizedRequests: "yes" }, "must be true or false"],
    [{ retries: 3 }, "webhook.retries: Invalid value: unknown field"],
  ])("a webhook with %j", (changes, message) => {
    expect(() => withWebhook(changes)).toThrow(message);
  });

  test.each([
    ["request.nothing", "undefined field 'nothing'"],
    ["request.user", "must evaluate to bool but got string"],
    ["1 +", "Syntax error: mismatched input '<EOF>'"],
  ])("the condition %s", (expression, message) => {
    expect(() => withWebhook({ matchConditions: [{ expression }] })).toThrow(message);
  });
});

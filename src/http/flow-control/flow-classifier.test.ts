import { describe, expect, test } from "bun:test";
import type { FlowSchema } from "../../api/types/flowcontrol-v1.ts";
import { flowSchemas } from "../../kinds/flowcontrol/flow-control-objects.ts";
import type { RequestInfo } from "../../request/request-info.ts";
import type { UserInfo } from "../../request/user-info.ts";
import { parseRequestInfo } from "../parse-request-info.ts";
import { distinguisherOf, FlowClassifier } from "./flow-classifier.ts";

function userOf(name: string, ...groups: string[]): UserInfo {
  return { name, uid: "", groups: [...groups, "system:authenticated"], extra: new Map() };
}

const defaults = new FlowClassifier(flowSchemas.map(({ object }) => object as unknown as FlowSchema));
const account = userOf("system:serviceaccount:kube-system:gc", "system:serviceaccounts");
const node = userOf("system:node:a", "system:nodes");
const lease = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/x";

function schemaOf(user: UserInfo, info: RequestInfo): string | undefined {
  return defaults.classify(user, info)?.metadata.name;
}

describe("the default schemas", () => {
  const admin = userOf("admin", "system:masters");
  const alice = userOf("alice");
  test.each([
    ["exempt", "GET", "/api/v1/pods", admin],
    ["probes", "GET", "/readyz", alice],
    ["probes", "GET", "/readyz/etcd", alice],
    ["global-default", "GET", "/readyzz", alice],
    ["global-default", "POST", "/readyz", alice],
    ["system-leader-election", "GET", lease, userOf("system:kube-scheduler")],
    ["kube-scheduler", "DELETE", lease, userOf("system:kube-scheduler")],
    ["system-leader-election", "PUT", lease, account],
    ["kube-system-service-accounts", "GET", "/api/v1/pods", account],
    ["service-accounts", "GET", "/api/v1/pods", userOf("system:serviceaccount:a:b", "system:serviceaccounts")],
    ["system-node-high", "PATCH", "/api/v1/nodes/a/status", node],
    ["system-node-high", "GET", "/api/v1/nodes", node],
    ["system-nodes", "GET", "/api/v1/pods", node],
    ["global-default", "GET", "/apis", alice],
  ])("%s: %s %s", (schema, method, path, user) => {
    expect(schemaOf(user, parseRequestInfo(method, path))).toBe(schema);
  });
});

describe("FlowClassifier", () => {
  const alice = userOf("alice");
  const pods = parseRequestInfo("GET", "/api/v1/namespaces/a/pods");

  function schema(name: string, matchingPrecedence: number, rule: object = {}): FlowSchema {
    const resourceRule = { verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"], ...rule };
    return {
      kind: "FlowSchema",
      apiVersion: "flowcontrol.apiserver.k8s.io/v1",
      metadata: { name },
      spec: {
        matchingPrecedence,
        priorityLevelConfiguration: { name: "x" },
        rules: [{ subjects: [{ kind: "User", user: { name: "*" } }], resourceRules: [resourceRule] }],
      },
    };
  }

  function chosen(info: RequestInfo, ...schemas: FlowSchema[]): string | undefined {
    return new FlowClassifier(schemas).classify(alice, info)?.metadata.name;
  }

  test("precedence decides, then the name", () => {
    expect(chosen(pods, schema("b", 5), schema("c", 4), schema("a", 5))).toBe("c");
    expect(chosen(pods, schema("b", 5), schema("a", 5))).toBe("a");
  });

  test("requests of the whole cluster need a rule for the scope of the cluster", () => {
    const nodes = parseRequestInfo("GET", "/api/v1/nodes");
    expect(chosen(nodes, schema("a", 1))).toBeUndefined();
    expect(chosen(nodes, schema("a", 1, { clusterScope: true, namespaces: [] }))).toBe("a");
  });

  test("a resource does not cover its subresources", () => {
    const log = parseRequestInfo("GET", "/api/v1/namespaces/a/pods/x/log");
    expect(chosen(log, schema("a", 1, { resources: ["pods"] }))).toBeUndefined();
    expect(chosen(log, schema("a", 1, { resources: ["pods/log"] }))).toBe("a");
  });

  test("the wildcard counts only as the single value", () => {
    expect(chosen(pods, schema("a", 1, { verbs: ["get", "*"] }))).toBeUndefined();
  });
});

test("the user or the namespace separates flows, as the schema says", () => {
  const info = parseRequestInfo("GET", "/api/v1/namespaces/a/pods");
  const by = (type: string | undefined) =>
    distinguisherOf({ spec: type === undefined ? {} : { distinguisherMethod: { type } } } as FlowSchema, account, info);
  expect([by("ByUser"), by("ByNamespace"), by(undefined)]).toEqual([account.name, "a", ""]);
});

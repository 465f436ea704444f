import type { JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";

/** An object of priority and fairness that exists from the start. */
export interface FlowControlObject {
  readonly object: KubeObject;
  /** The server cannot do without it: its spec is always restored. */
  readonly mandatory: boolean;
}

const apiVersion = "flowcontrol.apiserver.k8s.io/v1";
const all = ["*"];
const everybody = [group("system:unauthenticated"), group("system:authenticated")];
const kubeSystemAccounts = [serviceAccount("*")];
const allRequests = {
  resourceRules: [resourceRule(all, all, all, { clusterScope: true })],
  nonResourceRules: [{ verbs: all, nonResourceURLs: all }],
};

/** Shares of the server's concurrency, in order of creation. */
export const priorityLevels: readonly FlowControlObject[] = [
  mandatory(level("exempt", { type: "Exempt", exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } })),
  mandatory(
    level("catch-all", {
      type: "Limited",
      limited: { nominalConcurrencyShares: 5, lendablePercent: 0, limitResponse: { type: "Reject" } },
    }),
  ),
  suggested(level("system", queued({ shares: 30, lendable: 33, queues: 64, hand: 6 }))),
  suggested(level("node-high", queued({ shares: 40, lendable: 25, queues: 64, hand: 6 }))),
  suggested(level("leader-election", queued({ shares: 10, lendable: 0, queues: 16, hand: 4 }))),
  suggested(level("workload-high", queued({ shares: 40, lendable: 50, queues: 128, hand: 6 }))),
  suggested(level("workload-low", queued({ shares: 100, lendable: 90, queues: 128, hand: 6 }))),
  suggested(level("global-default", queued({ shares: 20, lendable: 50, queues: 128, hand: 6 }))),
];

/** Rules that assign requests to levels, by precedence. */
export const flowSchemas: readonly FlowControlObject[] = [
  mandatory(schema("exempt", "exempt", 1, undefined, { subjects: [group("system:masters")], ...allRequests })),
  suggested(
    schema("probes", "exempt", 2, undefined, {
      subjects: everybody,
      nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/healthz", "/readyz", "/livez"] }],
    }),
  ),
  suggested(
    schema("system-leader-election", "leader-election", 100, "ByUser", {
      subjects: [user("system:kube-controller-manager"), user("system:kube-scheduler"), ...kubeSystemAccounts],
      resourceRules: [resourceRule(["get", "create", "update"], ["coordination.k8s.io"], ["leases"], {})],
    }),
  ),
  suggested(
    schema("system-node-high", "node-high", 400, "ByUser", {
      subjects: [group("system:nodes")],
      resourceRules: [
        resourceRule(all, [""], ["nodes", "nodes/status"], { clusterScope: true }),
        resourceRule(all, ["coordination.k8s.io"], ["leases"], {}),
      ],
    }),
  ),
  suggested(schema("system-nodes", "system", 500, "ByUser", { subjects: [group("system:nodes")], ...allRequests })),
  suggested(
    schema("kube-controller-manager", "workload-high", 800, "ByNamespace", {
      subjects: [user("system:kube-controller-manager")],
      ...allRequests,
    }),
  ),
  suggested(
    schema("kube-scheduler", "workload-high", 800, "ByNamespace", {
      subjects: [user("system:kube-scheduler")],
      ...allRequests,
    }),
  ),
  suggested(
    schema("kube-system-service-accounts", "workload-high", 900, "ByNamespace", {
      subjects: kubeSystemAccounts,
      ...allRequests,
    }),
  ),
  suggested(
    schema("service-accounts", "workload-low", 9000, "ByUser", {
      subjects: [group("system:serviceaccounts")],
      ...allRequests,
    }),
  ),
  suggested(schema("global-default", "global-default", 9900, "ByUser", { subjects: everybody, ...allRequests })),
  mandatory(schema("catch-all", "catch-all", 10_000, "ByUser", { subjects: everybody, ...allRequests })),
];

/** Returns the fixed spec of an object that the server cannot do without. */
export function mandatorySpec(objects: readonly FlowControlObject[], name: string | undefined): JsonObject | undefined {
  const known = objects.find(({ object, mandatory }) => mandatory && object.metadata.name === name);
  return known?.object["spec"] as JsonObject | undefined;
}

function mandatory(object: KubeObject): FlowControlObject {
  return { object, mandatory: true };
}

function suggested(object: KubeObject): FlowControlObject {
  return { object, mandatory: false };
}

function level(name: string, spec: JsonObject): KubeObject {
  return { kind: "PriorityLevelConfiguration", apiVersion, metadata: { name }, spec };
}

interface QueuedLevel {
  readonly shares: number;
  readonly lendable: number;
  readonly queues: number;
  readonly hand: number;
}

function queued({ shares, lendable, queues, hand }: QueuedLevel): JsonObject {
  return {
    type: "Limited",
    limited: {
      nominalConcurrencyShares: shares,
      lendablePercent: lendable,
      limitResponse: { type: "Queue", queuing: { queues, handSize: hand, queueLengthLimit: 50 } },
    },
  };
}

function schema(
  name: string,
  levelName: string,
  matchingPrecedence: number,
  distinguisher: "ByUser" | "ByNamespace" | undefined,
  rule: JsonObject,
): KubeObject {
  const spec: JsonObject = {
    priorityLevelConfiguration: { name: levelName },
    matchingPrecedence,
    ...(distinguisher === undefined ? {} : { distinguisherMethod: { type: distinguisher } }),
    rules: [rule],
  };
  return { kind: "FlowSchema", apiVersion, metadata: { name }, spec };
}

function resourceRule(
  verbs: string[],
  apiGroups: string[],
  resources: string[],
  { clusterScope }: { readonly clusterScope?: boolean },
): JsonObject {
  return { verbs, apiGroups, resources, ...(clusterScope === undefined ? {} : { clusterScope }), namespaces: all };
}

function group(name: string): JsonObject {
  return { kind: "Group", group: { name } };
}

function user(name: string): JsonObject {
  return { kind: "User", user: { name } };
}

function serviceAccount(name: string): JsonObject {
  return { kind: "ServiceAccount", serviceAccount: { namespace: "kube-system", name } };
}

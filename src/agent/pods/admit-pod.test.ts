import { describe, expect, test } from "bun:test";
import type { Node, Pod, PodSpec } from "../../api/types/core-v1.ts";
import { admitPod } from "./admit-pod.ts";
import { container } from "./testing.ts";

const node: Node = {
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "node-1", labels: { "kubernetes.io/os": "linux", zone: "a", size: "5" } },
  status: { allocatable: { cpu: "2", memory: "1Gi", pods: "3", "ephemeral-storage": "1Gi", "example.com/gpu": "1" } },
};

function pod(spec: Partial<PodSpec> = {}, labels: Record<string, string> = {}): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", labels },
    spec: { containers: [container("web")], ...spec },
  };
}

const requesting = (requests: Record<string, string>, more: Partial<PodSpec> = {}) =>
  pod({ containers: [container("web", { resources: { requests } })], ...more });
const affinity = (
  key: string,
  operator: string,
  values: string[] = [],
  field: "Expressions" | "Fields" = "Expressions",
) =>
  pod({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ [`match${field}`]: [{ key, operator, values }] }],
        },
      },
    } as never,
  });

describe("resources", () => {
  const cases: readonly [string, Pod, readonly Pod[], string | undefined][] = [
    ["that are free are enough", requesting({ cpu: "1500m", memory: "1Gi" }), [requesting({ cpu: "500m" })], undefined],
    [
      "cpu",
      requesting({ cpu: "1501m" }),
      [requesting({ cpu: "500m" })],
      "cpu, requested: 1501, used: 500, capacity: 2000",
    ],
    ["memory", requesting({ memory: "2Gi" }), [], "memory, requested: 2147483648, used: 0, capacity: 1073741824"],
    ["pods", pod(), [pod(), pod(), pod()], "pods, requested: 1, used: 3, capacity: 3"],
    [
      "ephemeral-storage",
      requesting({ "ephemeral-storage": "2Gi" }),
      [],
      "ephemeral-storage, requested: 2147483648, used: 0, capacity: 1073741824",
    ],
    [
      "example.com/gpu",
      requesting({ "example.com/gpu": "1" }),
      [requesting({ "example.com/gpu": "1" })],
      "example.com/gpu, requested: 1, used: 1, capacity: 1",
    ],
    [
      "of the cluster that the node does not have are not its matter",
      requesting({ "example.com/x": "9" }),
      [],
      undefined,
    ],
    [
      "cpu",
      pod({ initContainers: [container("i", { resources: { requests: { cpu: "3" } } })] }),
      [],
      "cpu, requested: 3000, used: 0, capacity: 2000",
    ],
    [
      "cpu",
      requesting(
        { cpu: "1" },
        { initContainers: [container("s", { restartPolicy: "Always", resources: { requests: { cpu: "1001m" } } })] },
      ),
      [],
      "cpu, requested: 2001, used: 0, capacity: 2000",
    ],
    [
      "of the pod count instead of those of its containers",
      requesting({ cpu: "3" }, { resources: { requests: { cpu: "1" } } }),
      [],
      undefined,
    ],
  ];
  test.each(cases)("%s", (name, one, others, problem) => {
    const rejection = admitPod(one, node, others);
    if (problem === undefined) expect(rejection).toBeUndefined();
    else expect(rejection).toEqual({ reason: `OutOf${name}`, message: `Node didn't have enough resource: ${problem}` });
  });
});

describe("the place of a pod", () => {
  const affinityText = "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector";
  const cases: readonly [string, Pod, string | undefined][] = [
    ["has the labels that are selected", pod({ nodeSelector: { zone: "a" } }), undefined],
    ["has other labels", pod({ nodeSelector: { zone: "b" } }), affinityText],
    ["In", affinity("zone", "In", ["a", "b"]), undefined],
    ["not In", affinity("zone", "In", ["b"]), affinityText],
    ["NotIn, also without the label", affinity("missing", "NotIn", ["b"]), undefined],
    ["Exists", affinity("missing", "Exists"), affinityText],
    ["DoesNotExist", affinity("missing", "DoesNotExist"), undefined],
    ["Gt", affinity("size", "Gt", ["4"]), undefined],
    ["Lt", affinity("size", "Lt", ["5"]), affinityText],
    ["the name", affinity("metadata.name", "In", ["node-1"], "Fields"), undefined],
    ["another name", affinity("metadata.name", "In", ["node-2"], "Fields"), affinityText],
    [
      "is another node",
      pod({ nodeName: "node-2" }),
      "Predicate NodeName failed: node(s) didn't match the requested node name",
    ],
  ];
  test.each(cases)("%s", (_, one, message) => expect(admitPod(one, node, [])?.message).toBe(message as never));

  test("is a node that evicts it", () => {
    const tainted = { ...node, spec: { taints: [{ key: "down", effect: "NoExecute" }] } };
    expect(admitPod(pod(), tainted, [])?.reason).toBe("TaintToleration");
    expect(admitPod(pod({ tolerations: [{ operator: "Exists" }] }), tainted, [])).toBeUndefined();
  });
});

describe("ports of the host", () => {
  const with8080 = (more: object = {}) =>
    pod({ containers: [container("web", { ports: [{ containerPort: 80, hostPort: 8080, ...more }] })] });
  test("may be taken", () => {
    expect(admitPod(with8080(), node, [with8080({ hostIP: "127.0.0.1" })])).toEqual({
      reason: "NodePorts",
      message: "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
    });
  });
  test("differ by protocol and address", () => {
    expect(admitPod(with8080(), node, [with8080({ protocol: "UDP" })])).toBeUndefined();
    expect(admitPod(with8080({ hostIP: "127.0.0.1" }), node, [with8080({ hostIP: "127.0.0.2" })])).toBeUndefined();
  });
});

test("the system of a pod has to be that of the node", () => {
  expect(admitPod(pod({}, { "kubernetes.io/os": "windows" }), node, [])).toEqual({
    reason: "PodOSSelectorNodeLabelDoesNotMatch",
    message: "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
  });
  expect(admitPod(pod({ os: { name: "windows" } }), node, [])?.reason).toBe("PodOSNotSupported");
  const strict = pod({ securityContext: { supplementalGroupsPolicy: "Strict" } });
  expect(admitPod(strict, node, [])?.message).toBe("SupplementalGroupsPolicy=Strict is not supported in this node");
});

test("a pod that restarts all its containers together is rejected", () => {
  const restartPolicyRules = [{ action: "RestartAllContainers", exitCodes: { operator: "In", values: [42] } }];
  expect(admitPod(pod({ containers: [container("web", { restartPolicyRules })] }), node, [])).toEqual({
    reason: "PodFeatureUnsupported",
    message: "Pod requires node features that are not available: RestartAllContainersOnContainerExits",
  });
});

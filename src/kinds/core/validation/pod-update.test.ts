import { describe, expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import { changed, updated, updateRefusal } from "../../testing.ts";
import { validatePodStatusUpdate } from "./pod-status.ts";

const path = "v1/pods";
const pod: JsonObject = {
  metadata: { annotations: { "kubernetes.io/config.mirror": "x" } },
  spec: {
    nodeName: "n",
    activeDeadlineSeconds: 10,
    tolerations: [{ key: "a", operator: "Exists", effect: "NoExecute", tolerationSeconds: 5 }],
    initContainers: [{ name: "i", image: "i:1" }],
    containers: [{ name: "c", image: "i:1" }],
  },
};
const others =
  "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

type Case = [field: string, value: JsonValue | undefined, ...causes: string[]];

test.each<Case>([
  ["spec.containers[0].image", "i:2"],
  ["spec.initContainers[0].image", "i:2"],
  ["spec.activeDeadlineSeconds", 9],
  ["spec.tolerations[0].tolerationSeconds", 6],
  ["spec.tolerations[1]", { operator: "Exists" }],
  ["metadata.labels", { a: "b" }],
  [
    "spec.containers[0].image",
    "",
    "spec.containers[0].image: Required value",
    "spec.containers[0].image: Required value",
  ],
  [
    "spec.activeDeadlineSeconds",
    11,
    "spec.activeDeadlineSeconds: Invalid value: 11: must be less than or equal to previous value",
  ],
  [
    "spec.activeDeadlineSeconds",
    undefined,
    "spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value",
  ],
  [
    "spec.tolerations[0].key",
    "b",
    "spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds",
  ],
  ["spec.tolerations[1]", { key: "-" }, "spec.tolerations[1].key: Invalid value: "],
  [
    "spec.containers[1]",
    { name: "d", image: "i" },
    "spec.containers: Forbidden: pod updates may not add or remove containers",
  ],
  ["spec.initContainers", [], "spec.initContainers: Forbidden: pod updates may not add or remove containers"],
  ["spec.containers[0].command", ["x"], others],
  ["spec.nodeName", "m", others],
  ["spec.terminationGracePeriodSeconds", 1, others],
  [
    "metadata.annotations",
    {},
    "metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not remove or update mirror pod annotation",
  ],
])("a pod of which %s becomes %j gets the expected answer", async (field, value, ...causes) => {
  const found = await updateRefusal(path, pod, changed(pod, field, value));
  expect(found).toHaveLength(causes.length);
  for (const [at, cause] of causes.entries()) expect(found[at]).toStartWith(cause);
});

describe("a pod that waits for its gates", () => {
  const term = (key: string): JsonObject => ({ matchExpressions: [{ key, operator: "Exists" }] });
  const affinityTo = (...terms: JsonObject[]): JsonObject => ({
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
  });
  const gated: JsonObject = {
    spec: {
      schedulingGates: [{ name: "a" }, { name: "b" }],
      nodeSelector: { a: "b" },
      affinity: affinityTo(term("a")),
      containers: [{ name: "c", image: "i" }],
    },
  };
  const narrower = {
    matchExpressions: [
      { key: "a", operator: "Exists" },
      { key: "b", operator: "Exists" },
    ],
  };

  test.each<Case>([
    ["schedulingGates", [{ name: "b" }]],
    ["nodeSelector", { a: "b", c: "d" }],
    ["affinity", affinityTo(narrower)],
    [
      "schedulingGates[2]",
      { name: "c" },
      "schedulingGates[2].name: Forbidden: only deletion is allowed, but found new scheduling gate 'c'",
    ],
    ["nodeSelector", { a: "c" }, "nodeSelector: Invalid value: "],
    [
      "affinity",
      affinityTo(term("b")),
      "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]: Invalid value: ",
    ],
  ])("may be narrowed: %s = %j", async (field, value, ...causes) => {
    const found = await updateRefusal(path, gated, changed(gated, `spec.${field}`, value));
    expect(found).toHaveLength(causes.length);
    for (const [at, cause] of causes.entries()) expect(found[at]).toStartWith(`spec.${cause}`);
  });
});

describe("the status of a pod", () => {
  const ended = (exitCode: number): JsonObject => ({ name: "c", state: { terminated: { exitCode } } });
  const simple: JsonObject = { spec: { restartPolicy: "OnFailure", containers: [{ name: "c", image: "i" }] } };

  test.each<[status: JsonObject, ...causes: string[]]>([
    [{ phase: "Running", podIP: "10.0.0.1", podIPs: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }] }],
    [{ podIPs: [{ ip: "x" }] }, "status.podIPs[0]: Invalid value: "],
    [
      { podIPs: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }] },
      'status.podIPs: Invalid value: [{"IP":"10.0.0.1"},{"IP":"10.0.0.2"}]: may specify no more than one IP for each IP family',
    ],
    [
      { hostIP: "10.0.0.1", hostIPs: [{ ip: "10.0.0.2" }] },
      'status.hostIPs[0].ip: Invalid value: "10.0.0.2": must be equal to `hostIP`',
    ],
    [{ qosClass: "Guaranteed" }, 'status.qosClass: Invalid value: "Guaranteed": field is immutable'],
    [{ nominatedNodeName: "N" }, 'status.nominatedNodeName: Invalid value: "N": '],
    [{ conditions: [{ type: "-", status: "True" }] }, 'status.conditions[0].Type: Invalid value: "-": '],
    [
      { resourceClaimStatuses: [{ name: "a" }] },
      'status.resourceClaimStatuses[0].name: Invalid value: "a": must match the name of an entry in `spec.resourceClaims`',
    ],
  ])("%j gets the expected answer", async (status, ...causes) => {
    const found = await updateRefusal(path, simple, { ...simple, status }, "status");
    expect(found).toHaveLength(causes.length);
    for (const [at, cause] of causes.entries()) expect(found[at]).toStartWith(cause);
  });

  test("changes nothing else", async () => {
    const after = await updated(
      path,
      simple,
      { ...changed(simple, "spec.nodeName", "n"), status: { phase: "Running" } },
      "status",
    );
    expect(after["spec"]).not.toHaveProperty("nodeName");
    expect(after["status"]).toEqual({ phase: "Running", qosClass: "BestEffort" });
  });

  test("does not bring back what has ended well", () => {
    const withStatus = (container: JsonObject) =>
      ({ metadata: { name: "a" }, ...simple, status: { containerStatuses: [container] } }) as never;
    const running: JsonObject = { name: "c", state: { running: {} } };
    const causes = (before: JsonObject) =>
      validatePodStatusUpdate(withStatus(running), withStatus(before)).map(
        ({ field, message }) => `${field}: ${message}`,
      );
    expect(causes(ended(0))).toEqual([
      "status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state",
    ]);
    expect(causes(ended(1))).toEqual([]);
  });
});

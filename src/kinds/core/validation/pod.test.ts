import { describe, expect, test } from "bun:test";
import { fieldErrorText } from "../../../api/field-error.ts";
import { cloneJson, type JsonObject, type JsonValue } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { validatePod } from "./pod.ts";
import { validatePodUpdate } from "./pod-update.ts";

const pod = (spec: JsonObject): KubeObject => ({ apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec });
const base: JsonObject = {
  restartPolicy: "Always",
  dnsPolicy: "ClusterFirst",
  terminationGracePeriodSeconds: 30,
  volumes: [{ name: "v", emptyDir: {} }],
  containers: [
    {
      name: "c",
      image: "i:1",
      imagePullPolicy: "Always",
      terminationMessagePolicy: "File",
      ports: [{ containerPort: 80, protocol: "TCP", name: "http" }],
      env: [{ name: "A", value: "1" }],
      volumeMounts: [{ name: "v", mountPath: "/v" }],
      resources: { requests: { cpu: "100m" }, limits: { cpu: "1" } },
      livenessProbe: { httpGet: { path: "/", port: "http", scheme: "HTTP" }, successThreshold: 1 },
    },
  ],
};
const container = (fields: JsonObject): JsonObject => ({
  ...base,
  containers: [{ ...((base["containers"] as JsonValue[])[0] as JsonObject), ...fields }],
});

test("a usual pod is accepted", () => expect(validatePod(pod(base))).toEqual([]));

describe("a pod is refused", () => {
  const at = "spec.containers[0]";
  const cases: readonly [string, JsonObject, string][] = [
    ["without containers", { ...base, containers: [] }, "spec.containers: Required value"],
    ["without a container name", container({ name: "" }), `${at}.name: Required value`],
    [
      "with a bad container name",
      container({ name: "A" }),
      `${at}.name: Invalid value: "A": a lowercase RFC 1123 label`,
    ],
    [
      "with a name twice",
      { ...base, initContainers: [{ name: "c", image: "i" }] },
      'spec.initContainers[0].name: Duplicate value: "c"',
    ],
    ["without an image", container({ image: "" }), `${at}.image: Required value`],
    [
      "with blanks around an image",
      container({ image: " i" }),
      `${at}.image: Invalid value: " i": must not have leading`,
    ],
    [
      "with a port out of range",
      container({ ports: [{ containerPort: 65_536, protocol: "TCP" }] }),
      `${at}.ports[0].containerPort: Invalid value: 65536: must be between 1 and 65535, inclusive`,
    ],
    [
      "with an unknown protocol",
      container({ ports: [{ containerPort: 1, protocol: "X" }] }),
      `${at}.ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"`,
    ],
    ["with a bad variable name", container({ env: [{ name: "a=b" }] }), `${at}.env[0].name: Invalid value: "a=b"`],
    [
      "with a variable of two sources",
      container({ env: [{ name: "a", valueFrom: { fieldRef: { fieldPath: "" }, secretKeyRef: { key: "" } } }] }),
      `${at}.env[0].valueFrom: Invalid value: "": may not have more than one field specified at a time`,
    ],
    [
      "with a mount of no volume",
      container({ volumeMounts: [{ name: "x", mountPath: "/x" }] }),
      `${at}.volumeMounts[0].name: Not found: "x"`,
    ],
    [
      "with a sub path that climbs",
      container({ volumeMounts: [{ name: "v", mountPath: "/x", subPath: "a/../b" }] }),
      `${at}.volumeMounts.subPath: Invalid value: "a/../b": must not contain '..'`,
    ],
    [
      "with a request above its limit",
      container({ resources: { requests: { cpu: "2" }, limits: { cpu: "1" } } }),
      `${at}.resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1`,
    ],
    [
      "with an extended resource without limit",
      container({ resources: { requests: { "a.io/gpu": "1" } } }),
      `${at}.resources.limits: Required value: Limit must be set for non overcommitable resources`,
    ],
    [
      "with a negative amount",
      container({ resources: { limits: { memory: "-1" } } }),
      `${at}.resources.limits[memory]: Invalid value: "-1": must be greater than or equal to 0`,
    ],
    [
      "with a probe of two handlers",
      container({ livenessProbe: { exec: { command: ["a"] }, tcpSocket: { port: 1 } } }),
      `${at}.livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type`,
    ],
    [
      "with an empty probe",
      container({ readinessProbe: {} }),
      `${at}.readinessProbe: Required value: must specify a handler type`,
    ],
    [
      "with an unknown restart policy",
      { ...base, restartPolicy: "Maybe" },
      'spec.restartPolicy: Unsupported value: "Maybe": supported values: "Always", "OnFailure", "Never"',
    ],
    [
      "with a volume twice",
      {
        ...base,
        volumes: [
          { name: "v", emptyDir: {} },
          { name: "v", emptyDir: {} },
        ],
      },
      'spec.volumes[1].name: Duplicate value: "v"',
    ],
    [
      "with a volume of no source",
      { ...base, volumes: [{ name: "v" }] },
      "spec.volumes[0]: Required value: must specify a volume type",
    ],
    [
      "with a toleration without key",
      { ...base, tolerations: [{ operator: "Equal" }] },
      'spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty',
    ],
  ];
  test.each(cases)("%s", (_, spec, message) => {
    expect(
      validatePod(pod(spec))
        .map(fieldErrorText)
        .filter((text) => text.startsWith(message)).length,
    ).toBe(1);
  });
});

describe("an update of a pod", () => {
  const texts = (fresh: JsonObject, old = base) =>
    validatePodUpdate(pod(cloneJson(fresh)), pod(cloneJson(old))).map(fieldErrorText);
  const gated = { ...base, schedulingGates: [{ name: "a.io/g" }] };
  const allowed: readonly [string, JsonObject, JsonObject][] = [
    ["may change an image", container({ image: "i:2" }), base],
    ["may set a deadline", { ...base, activeDeadlineSeconds: 5 }, base],
    ["may lower a deadline", { ...base, activeDeadlineSeconds: 5 }, { ...base, activeDeadlineSeconds: 6 }],
    [
      "may add a toleration",
      { ...base, tolerations: [{ key: "a" }, { key: "b" }] },
      { ...base, tolerations: [{ key: "a" }] },
    ],
    [
      "may mend a negative grace period",
      { ...base, terminationGracePeriodSeconds: 1 },
      { ...base, terminationGracePeriodSeconds: -5 },
    ],
    ["may open a gate", base, gated],
    ["may narrow a gated pod", { ...gated, nodeSelector: { a: "b" } }, gated],
  ];
  test.each(allowed)("%s", (_, fresh, old) => expect(texts(fresh, old)).toEqual([]));

  const refused: readonly [string, JsonObject, JsonObject, string][] = [
    [
      "may not change a command",
      container({ command: ["x"] }),
      base,
      "spec: Forbidden: pod updates may not change fields other than",
    ],
    ["may not change the node", { ...base, nodeName: "n" }, base, "spec: Forbidden: pod updates may not change"],
    [
      "may not change the grace period",
      { ...base, terminationGracePeriodSeconds: 1 },
      base,
      "spec: Forbidden: pod updates",
    ],
    [
      "may not select nodes without a gate",
      { ...base, nodeSelector: { a: "b" } },
      base,
      "spec: Forbidden: pod updates",
    ],
    [
      "may not add a container",
      { ...base, initContainers: [{ name: "x", image: "i" }] },
      base,
      "spec.initContainers: Forbidden: pod updates may not add or remove containers",
    ],
    [
      "may not raise a deadline",
      { ...base, activeDeadlineSeconds: 7 },
      { ...base, activeDeadlineSeconds: 6 },
      "spec.activeDeadlineSeconds: Invalid value: 7: must be less than or equal to previous value",
    ],
    [
      "may not drop a toleration",
      base,
      { ...base, tolerations: [{ key: "a" }] },
      "spec.tolerations: Forbidden: existing toleration",
    ],
    ["may not add a gate", gated, base, "spec.schedulingGates[0].name: Forbidden: only deletion is allowed"],
  ];
  test.each(refused)("%s", (_, fresh, old, message) => {
    expect(texts(fresh, old).filter((text) => text.startsWith(message)).length).toBe(1);
  });
});

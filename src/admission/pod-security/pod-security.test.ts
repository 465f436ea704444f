import { describe, expect, test } from "bun:test";
import { attributes, objects, pod, verdict } from "../testing.ts";
import { podSecurity } from "./pod-security.ts";

const namespace = (labels: Record<string, string>) => ({
  metadata: {
    name: "ns",
    labels: Object.fromEntries(Object.entries(labels).map(([mode, to]) => [`pod-security.kubernetes.io/${mode}`, to])),
  },
});
const plugin = (labels: Record<string, string>, ...pods: object[]) =>
  podSecurity({ lookup: objects({ "/namespaces": [namespace(labels)], "/pods": pods }) });
const hostPid = 'PodSecurity "baseline:latest": host namespaces (hostPID=true)';
const bad = () => pod({ hostPID: true });

test("an enforced level rejects a pod without an additional warning", async () => {
  const request = attributes("/pods", { object: bad() });
  expect(await verdict(plugin({ enforce: "baseline" }), request)).toBe(`pods "p" is forbidden: violates ${hostPid}`);
  expect(request.warnings).toEqual([]);
  expect([...request.annotations]).toEqual([["pod-security.kubernetes.io/enforce-policy", "baseline:latest"]]);
});

test("a warn level warns, and an audit level adds an annotation", async () => {
  const request = attributes("/pods", { object: bad() });
  expect(await verdict(plugin({ warn: "baseline", audit: "baseline" }), request)).toBeUndefined();
  expect(request.warnings).toEqual([`would violate ${hostPid}`]);
  expect(request.annotations.get("pod-security.kubernetes.io/audit-violations")).toBe(`would violate ${hostPid}`);
});

test("invalid labels reject pods and are annotated", async () => {
  const request = attributes("/pods", { object: pod() });
  expect(await verdict(plugin({ enforce: "x" }), request)).toMatch(/violates PodSecurity "restricted:latest"/);
  expect(request.annotations.get("pod-security.kubernetes.io/error")).toMatch(/^Failed to parse policy: metadata/);
});

describe("workload resources", () => {
  const template = { metadata: {}, spec: { hostPID: true, containers: [] } };
  test.each([
    ["apps/deployments", { spec: { template } }],
    ["apps/replicasets", { spec: { template } }],
    ["apps/statefulsets", { spec: { template } }],
    ["apps/daemonsets", { spec: { template } }],
    ["batch/jobs", { spec: { template } }],
    ["batch/cronjobs", { spec: { jobTemplate: { spec: { template } } } }],
    ["/replicationcontrollers", { spec: { template } }],
    ["/podtemplates", { template }],
  ] as const)("%s gets a warning and is not rejected", async (resource, fields) => {
    const request = attributes(resource, { object: { metadata: { name: "x" }, ...fields } });
    expect(await verdict(plugin({ enforce: "baseline" }), request)).toBeUndefined();
    expect(request.warnings).toEqual([`would violate ${hostPid}`]);
  });
});

test.each([
  ["status", false],
  ["binding", false],
  ["ephemeralcontainers", true],
])("a write to the subresource %s is checked: %p", async (subresource, judged) => {
  const request = attributes("/pods", { operation: "UPDATE", subresource, object: bad(), oldObject: pod() });
  expect((await verdict(plugin({ enforce: "baseline" }), request)) !== undefined).toBe(judged);
});

test("a pod that already violates the level may still change its image", async () => {
  const object = pod({ hostPID: true, containers: [{ name: "c", image: "new" }] });
  const request = attributes("/pods", { operation: "UPDATE", object, oldObject: bad() });
  expect(await verdict(plugin({ enforce: "baseline" }), request)).toBeUndefined();
});

describe("a namespace", () => {
  test("is rejected with an invalid label, unless it had it", async () => {
    const object = namespace({ enforce: "x" });
    const message =
      'Namespace "ns" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "x": must be one of privileged, baseline, restricted';
    expect(await verdict(plugin({}), attributes("/namespaces", { object }))).toBe(message);
    const update = attributes("/namespaces", { operation: "UPDATE", object, oldObject: object });
    expect(await verdict(plugin({}), update)).toBeUndefined();
  });

  const named = (name: string, spec: object) => pod(spec, { name });
  const pods = [
    named("a", { hostPID: true }),
    named("b", { hostPID: true }),
    named("c", { hostIPC: true, containers: [{ name: "c", securityContext: { privileged: true } }] }),
    named("d", {}),
  ];
  test.each([
    [
      {},
      { enforce: "baseline" },
      [
        'existing pods in namespace "ns" violate the new PodSecurity enforce level "baseline:latest"',
        "a (and 1 other pod): host namespaces",
        "c: host namespaces, privileged",
      ],
    ],
    [{ enforce: "restricted" }, { enforce: "baseline" }, []],
    [{ enforce: "baseline" }, { enforce: "baseline" }, []],
    [{ enforce: "baseline" }, {}, []],
  ])("a change from %j to %j warns %j", async (before, after, warnings) => {
    const request = attributes("/namespaces", {
      operation: "UPDATE",
      object: namespace(after as Record<string, string>),
      oldObject: namespace(before as Record<string, string>),
    });
    expect(await verdict(plugin({}, ...pods), request)).toBeUndefined();
    expect(request.warnings).toEqual(warnings);
  });
});

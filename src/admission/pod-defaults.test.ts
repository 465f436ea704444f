import { describe, expect, test } from "bun:test";
import { defaultTolerationSeconds } from "./default-toleration-seconds.ts";
import { priority } from "./priority.ts";
import { runtimeClass } from "./runtime-class.ts";
import { attributes, objects, pod, verdict } from "./testing.ts";

describe("DefaultTolerationSeconds", () => {
  const [notReady, unreachable] = ["not-ready", "unreachable"].map((name) => ({
    key: `node.kubernetes.io/${name}`,
    operator: "Exists",
    effect: "NoExecute",
    tolerationSeconds: 300,
  }));
  const own = { key: "node.kubernetes.io/not-ready", effect: "NoExecute" };
  const otherEffect = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };
  test.each([
    [[], [notReady, unreachable]],
    [[own], [own, unreachable]],
    [[otherEffect], [otherEffect, notReady, unreachable]],
    [[{ operator: "Exists" }], [{ operator: "Exists" }]],
  ])("changes %j to %j", async (tolerations, expected) => {
    const object = pod({ tolerations });
    await verdict(defaultTolerationSeconds(), attributes("/pods", { object }));
    expect((object["spec"] as any).tolerations).toEqual(expected);
  });
});

describe("Priority", () => {
  const priorityClass = (name: string, value: number, fields: object = {}) => ({
    metadata: { name },
    value,
    ...fields,
  });
  const high = priorityClass("high", 1_000, { preemptionPolicy: "Never" });
  const fallback = priorityClass("fallback", 5, { globalDefault: true });
  const plugin = (...classes: object[]) =>
    priority({ lookup: objects({ "scheduling.k8s.io/priorityclasses": classes }) });

  test.each([
    [[high], { priorityClassName: "high" }, { priority: 1_000, preemptionPolicy: "Never", priorityClassName: "high" }],
    [[high], {}, { priority: 0, preemptionPolicy: "PreemptLowerPriority" }],
    [[high, fallback], {}, { priority: 5, preemptionPolicy: "PreemptLowerPriority", priorityClassName: "fallback" }],
    [[], { priorityClassName: "system-node-critical" }, { priority: 2_000_001_000 }],
    [[high], { priorityClassName: "high", priority: 1_000 }, { priority: 1_000 }],
  ])("with classes %j changes %j to %j", async (classes, spec, expected) => {
    const object = pod(spec);
    expect(await verdict(plugin(...classes), attributes("/pods", { object }))).toBeUndefined();
    expect(object["spec"]).toMatchObject(expected);
  });

  test.each([
    [{ priorityClassName: "none" }, "no PriorityClass with name none was found"],
    [
      { priorityClassName: "high", priority: 7 },
      "the integer value of priority (7) must not be provided in pod spec; priority admission controller computed 1000 from the given PriorityClass name",
    ],
    [
      { priorityClassName: "high", preemptionPolicy: "PreemptLowerPriority" },
      "the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod spec; priority admission controller computed Never from the given PriorityClass name",
    ],
  ])("rejects %j", async (spec, problem) => {
    expect(await verdict(plugin(high), attributes("/pods", { object: pod(spec) }))).toBe(
      `pods "p" is forbidden: ${problem}`,
    );
  });

  test("an update without a priority keeps it", async () => {
    const object = pod();
    const oldObject = pod({ priority: 3, preemptionPolicy: "Never" });
    await verdict(plugin(), attributes("/pods", { operation: "UPDATE", object, oldObject }));
    expect(object["spec"]).toMatchObject({ priority: 3, preemptionPolicy: "Never" });
  });

  test("at most one class is the default", async () => {
    const object = priorityClass("second", 1, { globalDefault: true });
    const request = attributes("scheduling.k8s.io/priorityclasses", { object, namespace: "" });
    expect(await verdict(plugin(fallback), request)).toBe(
      'priorityclasses.scheduling.k8s.io "second" is forbidden: PriorityClass fallback is already marked as default. Only one default can exist',
    );
    const same = attributes("scheduling.k8s.io/priorityclasses", { object: fallback, operation: "UPDATE" });
    expect(await verdict(plugin(fallback), same)).toBeUndefined();
  });
});

describe("RuntimeClass", () => {
  const plugin = runtimeClass({
    lookup: objects({
      "node.k8s.io/runtimeclasses": [
        {
          metadata: { name: "vm" },
          overhead: { podFixed: { cpu: "250m" } },
          scheduling: { nodeSelector: { vm: "yes" }, tolerations: [{ key: "vm" }] },
        },
        { metadata: { name: "plain" } },
      ],
    }),
  });

  test("adds overhead, node selector and tolerations", async () => {
    const object = pod({ runtimeClassName: "vm", nodeSelector: { a: "b" }, tolerations: [{ key: "x" }] });
    expect(await verdict(plugin, attributes("/pods", { object }))).toBeUndefined();
    expect(object["spec"]).toMatchObject({
      overhead: { cpu: "250m" },
      nodeSelector: { a: "b", vm: "yes" },
      tolerations: [{ key: "x" }, { key: "vm" }],
    });
  });

  test.each([
    [{ runtimeClassName: "none" }, 'pod rejected: RuntimeClass "none" not found'],
    [
      { runtimeClassName: "vm", overhead: { cpu: "1" } },
      "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
    ],
    [{ overhead: { cpu: "1" } }, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"],
    [
      { runtimeClassName: "vm", nodeSelector: { vm: "no" } },
      "conflict: runtimeClass.scheduling.nodeSelector[vm] = yes; pod.spec.nodeSelector[vm] = no",
    ],
  ])("rejects %j", async (spec, problem) => {
    expect(await verdict(plugin, attributes("/pods", { object: pod(spec) }))).toBe(`pods "p" is forbidden: ${problem}`);
  });

  test.each([
    ["", "resource name may not be empty"],
    ["..", `invalid resource name "..": [may not be '..']`],
    ["a/b", `invalid resource name "a/b": [may not contain '/']`],
  ])("cannot ask for %p", async (runtimeClassName, problem) => {
    expect(await verdict(plugin, attributes("/pods", { object: pod({ runtimeClassName }) }))).toBe(problem);
  });
});

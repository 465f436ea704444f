import { describe, expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { changed, created, refusal, updated, updateRefusal } from "../testing.ts";

const path = "batch/v1/jobs";
const minimal: JsonObject = {
  spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } } },
};
const rich: JsonObject = {
  spec: {
    parallelism: 2,
    completions: 3,
    completionMode: "Indexed",
    backoffLimitPerIndex: 1,
    maxFailedIndexes: 1,
    activeDeadlineSeconds: 1,
    ttlSecondsAfterFinished: 0,
    suspend: true,
    managedBy: "example.com/controller",
    podReplacementPolicy: "Failed",
    podFailurePolicy: {
      rules: [
        { action: "FailIndex", onExitCodes: { containerName: "c", operator: "In", values: [1, 3] } },
        { action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] },
      ],
    },
    successPolicy: { rules: [{ succeededIndexes: "0,2", succeededCount: 1 }] },
    template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } },
  },
};
const negative = "must be greater than or equal to 0";

test.each([
  ["little", minimal],
  ["everything", rich],
])("a Job with %s is accepted", async (_, job) => {
  expect(await refusal(path, job)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, ...causes: string[]]>([
  ["parallelism", -1, `parallelism: Invalid value: -1: ${negative}`],
  ["activeDeadlineSeconds", -1, `activeDeadlineSeconds: Invalid value: -1: ${negative}`],
  ["backoffLimit", -1, `backoffLimit: Invalid value: -1: ${negative}`],
  ["ttlSecondsAfterFinished", -1, `ttlSecondsAfterFinished: Invalid value: -1: ${negative}`],
  [
    "completions",
    undefined,
    "completions: Required value: when completion mode is Indexed",
    "successPolicy.rules[0].succeededIndexes: Invalid value",
    "successPolicy.rules[0].succeededCount: Invalid value",
    "successPolicy.rules[0].succeededCount: Invalid value",
  ],
  ["maxFailedIndexes", 4, "maxFailedIndexes: Invalid value: 4: must be less than or equal to completions"],
  [
    "parallelism",
    100_001,
    "parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed",
  ],
  [
    "backoffLimitPerIndex",
    undefined,
    "backoffLimitPerIndex: Required value: when maxFailedIndexes is specified",
    'podFailurePolicy.rules[0].action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set',
  ],
  [
    "completionMode",
    "NonIndexed",
    "backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode",
    "maxFailedIndexes: Invalid value: 1: requires indexed completion mode",
    'successPolicy: Invalid value: {"Rules":[{"SucceededIndexes":"0,2","SucceededCount":1}]}: requires indexed completion mode',
  ],
  [
    "completionMode",
    "Magic",
    'completionMode: Unsupported value: "Magic": supported values: "NonIndexed", "Indexed"',
    "successPolicy",
  ],
  [
    "managedBy",
    "controller",
    'managedBy: Invalid value: "controller": must be a domain-prefixed path (such as "acme.io/foo")',
  ],
  [
    "podReplacementPolicy",
    "TerminatingOrFailed",
    'podReplacementPolicy: Unsupported value: "TerminatingOrFailed": supported values: "Failed"',
  ],
  [
    "podFailurePolicy.rules[0].action",
    "Retry",
    'podFailurePolicy.rules[0].action: Unsupported value: "Retry": supported values: "Count", "FailIndex", "FailJob", "Ignore"',
  ],
  [
    "podFailurePolicy.rules[0].onExitCodes.values",
    [3, 0],
    "podFailurePolicy.rules[0].onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In operator",
    "podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [3,0]: must be ordered",
  ],
  [
    "podFailurePolicy.rules[0].onExitCodes.containerName",
    "d",
    'podFailurePolicy.rules[0].onExitCodes.containerName: Invalid value: "d": must be one of the container or initContainer names in the pod template',
  ],
  [
    "podFailurePolicy.rules[1].onPodConditions",
    [],
    "podFailurePolicy.rules[1]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required",
  ],
  [
    "podFailurePolicy.rules[1].onPodConditions[0].status",
    "Maybe",
    'podFailurePolicy.rules[1].onPodConditions[0].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"',
  ],
  [
    "successPolicy.rules",
    [],
    "successPolicy.rules: Required value: at least one rules must be specified when the successPolicy is specified",
  ],
  [
    "successPolicy.rules[0].succeededIndexes",
    "3",
    'successPolicy.rules[0].succeededIndexes: Invalid value: "3": error parsing succeededIndexes: too large index: "3"',
    "successPolicy.rules[0].succeededCount",
  ],
  [
    "successPolicy.rules[0].succeededCount",
    3,
    "successPolicy.rules[0].succeededCount: Invalid value: 3: must be less than or equal to 2 (the number of indexes in the specified succeededIndexes field)",
  ],
  [
    "template.spec.restartPolicy",
    "Always",
    'template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
  ],
  [
    "template.spec.restartPolicy",
    undefined,
    'template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
  ],
  [
    "template.spec.restartPolicy",
    "OnFailure",
    'template.spec.restartPolicy: Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified',
  ],
  ["template.spec.containers[0].image", "", "template.spec.containers[0].image: Required value"],
])("a Job with %s = %j is refused", async (field, value, ...causes) => {
  const found = await refusal(path, changed(rich, `spec.${field}`, value));
  expect(found).toHaveLength(causes.length);
  for (const [at, cause] of causes.entries()) expect(found[at]).toStartWith(`spec.${cause}`);
});

describe("its selector", () => {
  test("is made from its name and uid", async () => {
    const { metadata, spec } = (await created(path, minimal)) as KubeObject & { spec: any };
    const uid = metadata.uid ?? "";
    const labels = {
      "batch.kubernetes.io/controller-uid": uid,
      "batch.kubernetes.io/job-name": "a",
      "controller-uid": uid,
      "job-name": "a",
    };
    expect(spec.template.metadata.labels).toEqual(labels);
    expect(spec.selector).toEqual({ matchLabels: { "batch.kubernetes.io/controller-uid": uid } });
    expect(metadata.labels).toEqual(labels);
  });

  test("may be the user's own, if configured so", async () => {
    const own = changed(changed(minimal, "spec.selector", { matchLabels: { a: "b" } }), "spec.manualSelector", true);
    expect(await refusal(path, own)).toEqual([
      "spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`",
    ]);
    expect(await refusal(path, changed(own, "spec.template.metadata", { labels: { a: "b" } }))).toEqual([]);
    expect(await refusal(path, changed(minimal, "spec.manualSelector", true))).toEqual([
      "spec.selector: Required value",
      "spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`",
    ]);
  });

  test("cannot be guessed", async () => {
    const guess: JsonObject = { matchLabels: { "batch.kubernetes.io/controller-uid": "x" } };
    const [first = "", ...rest] = await refusal(path, changed(minimal, "spec.selector", guess));
    expect(first).toBe(`spec.selector: Invalid value: ${JSON.stringify(guess)}: \`selector\` not auto-generated`);
    expect(rest).toHaveLength(1);
  });
});

describe("an update", () => {
  /** Changes one value of a stored job. */
  async function causesOf(before: JsonObject, field: string, value: JsonValue | undefined): Promise<string[]> {
    const manual = changed(changed(before, "spec.manualSelector", true), "spec.selector", { matchLabels: { a: "b" } });
    const labelled = changed(manual, "spec.template.metadata", { labels: { a: "b" } });
    return updateRefusal(path, labelled, changed(labelled, field, value));
  }

  test.each<[field: string, value: JsonValue | undefined, ...causes: string[]]>([
    ["spec.parallelism", 5],
    ["spec.suspend", true],
    ["spec.backoffLimit", 1],
    ["spec.activeDeadlineSeconds", 9],
    ["spec.ttlSecondsAfterFinished", 9],
    ["spec.completions", 2, "spec.completions: Invalid value: 2: field is immutable"],
    ["spec.completionMode", "Indexed", 'spec.completionMode: Invalid value: "Indexed": field is immutable'],
    ["spec.managedBy", "a.b/c", 'spec.managedBy: Invalid value: "a.b/c": field is immutable'],
    ["spec.template.spec.containers[0].image", "j", "spec.template: Invalid value: "],
    ["spec.template.spec.nodeSelector", { a: "b" }, "spec.template: Invalid value: "],
    ["spec.template.spec.nodeSelector", {}],
    ["spec.template.spec.volumes", []],
    ["spec.template.spec.topologySpreadConstraints", []],
    ["spec.template.spec.containers[0].command", []],
    ["spec.template.spec.containers[0].resources", { limits: {} }],
    ["spec.template.metadata.annotations", {}],
  ])("that makes %s = %j of a running job gets the expected answer", async (field, value, ...causes) => {
    const found = await causesOf(changed(minimal, "spec.completions", 1), field, value);
    expect(found).toHaveLength(causes.length);
    for (const [at, cause] of causes.entries()) expect(found[at]).toStartWith(cause);
  });

  test.each<[field: string, value: JsonValue | undefined, count: number]>([
    ["spec.template.spec.nodeSelector", { a: "b" }, 0],
    ["spec.template.spec.tolerations", [{ operator: "Exists" }], 0],
    ["spec.template.metadata.annotations", { a: "b" }, 0],
    ["spec.template.spec.containers[0].resources", { limits: { cpu: "1" } }, 0],
    ["spec.template.spec.containers[0].image", "j", 1],
    ["spec.completions", 2, 4],
    ["spec.podFailurePolicy", undefined, 1],
  ])("that makes %s = %j of a suspended job has %d causes", async (field, value, count) => {
    expect(await causesOf(rich, field, value)).toHaveLength(count);
  });

  test("changes the number of completions of an indexed job together with its parallelism", async () => {
    const before = changed(changed(rich, "spec.parallelism", 3), "spec.manualSelector", true);
    const labelled = changed(changed(before, "spec.selector", { matchLabels: { a: "b" } }), "spec.template.metadata", {
      labels: { a: "b" },
    });
    const grown = changed(changed(labelled, "spec.completions", 4), "spec.parallelism", 4);
    expect(await updateRefusal(path, labelled, grown)).toEqual([]);
    expect(await updateRefusal(path, labelled, changed(grown, "spec.parallelism", 3))).toEqual([
      "spec.completions: Invalid value: 4: can only be modified in tandem with spec.parallelism",
    ]);
  });
});

describe("its status", () => {
  const startTime = "2026-01-01T00:00:00Z";
  const is = (...types: string[]): JsonObject[] => types.map((type) => ({ type, status: "True" }));
  const cases: [status: JsonObject, ...causes: string[]][] = [
    [{ active: 1, ready: 1, startTime }],
    [{ startTime, completionTime: startTime, succeeded: 1, conditions: is("SuccessCriteriaMet", "Complete") }],
    [{ active: -1 }, `status.active: Invalid value: -1: ${negative}`],
    [{ active: 1, ready: 2 }, "status.ready: Invalid value: 2: cannot set more ready pods than active"],
    [
      { completionTime: startTime },
      `status.completionTime: Invalid value: "${startTime}": cannot set completionTime when there is no Complete=True condition`,
    ],
    [
      { startTime, conditions: is("Failed") },
      "status.conditions: Invalid value: cannot set Failed=True condition without the FailureTarget=true condition",
    ],
    [
      { startTime, active: 1, conditions: is("Failed", "FailureTarget") },
      "status.active: Invalid value: 1: active>0 is invalid for finished job",
    ],
    [
      { startTime, completedIndexes: "1" },
      'status.completedIndexes: Invalid value: "1": error parsing completedIndexes: too large index: "1"',
      'status.completedIndexes: Invalid value: "1": cannot set non-empty completedIndexes when non-indexed completion mode',
    ],
    [
      { uncountedTerminatedPods: { succeeded: ["a"], failed: ["a", ""] } },
      'status.uncountedTerminatedPods.failed[0]: Duplicate value: "a"',
      'status.uncountedTerminatedPods.failed[1]: Invalid value: "": must not be empty',
    ],
  ];
  test.each(cases)("%j gets the expected answer", async (status, ...causes) => {
    expect(await updateRefusal(path, minimal, { ...minimal, status }, "status")).toEqual(causes);
  });

  test("changes nothing else", async () => {
    const after = await updated(path, minimal, { ...rich, status: { active: 1, ready: 0, startTime } }, "status");
    expect(after).toMatchObject({ metadata: { generation: 1 }, spec: { parallelism: 1 }, status: { active: 1 } });
  });
});

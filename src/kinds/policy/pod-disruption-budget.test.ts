import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal, updated, updateRefusal } from "../testing.ts";

const path = "policy/v1/poddisruptionbudgets";
const minimal: JsonObject = { spec: { minAvailable: 1 } };
const rich: JsonObject = {
  spec: {
    maxUnavailable: "50%",
    selector: { matchLabels: { a: "b" }, matchExpressions: [{ key: "c", operator: "DoesNotExist" }] },
    unhealthyPodEvictionPolicy: "AlwaysAllow",
  },
};
const percent =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

test.each([
  ["little", minimal],
  ["everything", rich],
])("a PodDisruptionBudget with %s is accepted", async (_, budget) => {
  expect(await refusal(path, budget)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, ...causes: string[]]>([
  ["maxUnavailable", -1, "maxUnavailable: Invalid value: -1: must be greater than or equal to 0"],
  ["maxUnavailable", "101%", 'maxUnavailable: Invalid value: "101%": must not be greater than 100%'],
  ["maxUnavailable", "half", `maxUnavailable: Invalid value: "half": ${percent}`],
  [
    "selector.matchExpressions[0].values",
    ["d"],
    "selector.matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
  ],
  [
    "selector.matchExpressions[0].operator",
    "Like",
    'selector.matchExpressions[0].operator: Invalid value: "Like": not a valid selector operator',
  ],
  [
    "unhealthyPodEvictionPolicy",
    "Never",
    'unhealthyPodEvictionPolicy: Unsupported value: "Never": supported values: "AlwaysAllow", "IfHealthyBudget"',
  ],
])("a PodDisruptionBudget with %s = %j is refused", async (field, value, ...causes) => {
  expect(await refusal(path, changed(rich, `spec.${field}`, value))).toEqual(causes.map((cause) => `spec.${cause}`));
});

test("it has one bound, not two", async () => {
  const shown = '{"MinAvailable":1,"Selector":null,"MaxUnavailable":1,"UnhealthyPodEvictionPolicy":null}';
  expect(await refusal(path, changed(minimal, "spec.maxUnavailable", 1))).toEqual([
    `spec: Invalid value: ${shown}: minAvailable and maxUnavailable cannot be both set`,
  ]);
});

test("everything may change, and each change of the spec is a generation", async () => {
  const { metadata, spec } = await updated(path, minimal, rich);
  expect(metadata.generation).toBe(2);
  expect(spec).toEqual(rich["spec"]);
});

test("the status has a path of its own", async () => {
  const status: JsonObject = {
    disruptionsAllowed: 1,
    currentHealthy: 1,
    desiredHealthy: 0,
    expectedPods: 1,
    conditions: [
      {
        type: "DisruptionAllowed",
        status: "True",
        reason: "Enough",
        message: "",
        lastTransitionTime: "2026-01-01T00:00:00Z",
      },
    ],
  };
  expect(await updated(path, minimal, { ...rich, status }, "status")).toMatchObject({ ...minimal, status });
  const wrong = { ...status, expectedPods: -1, conditions: [{ type: "a" }] };
  const causes = await updateRefusal(path, minimal, { ...minimal, status: wrong }, "status");
  expect(causes).toContain("status.expectedPods: Invalid value: -1: must be greater than or equal to 0");
  expect(causes).toContain("status.conditions[0].reason: Required value");
});

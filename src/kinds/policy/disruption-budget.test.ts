import { expect, test } from "bun:test";
import type { StatusError } from "../../api/status.ts";
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from "../../api/types/policy-v1.ts";
import { covers, disrupted, sparesUnready } from "./disruption-budget.ts";

const nowMs = Date.parse("2026-01-01T00:00:00Z");

function budget(
  status: Partial<PodDisruptionBudgetStatus>,
  more: Partial<PodDisruptionBudget> = {},
): PodDisruptionBudget {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name: "web", generation: 2 },
    status: {
      observedGeneration: 2,
      disruptionsAllowed: 0,
      currentHealthy: 0,
      desiredHealthy: 0,
      expectedPods: 0,
      ...status,
    },
    ...more,
  };
}

function refusalOf(refused: PodDisruptionBudget): { code: number; message: string; retryAfter: number | undefined } {
  try {
    disrupted(refused, "p", nowMs);
  } catch (error) {
    const { code, status } = error as StatusError;
    const message = status.details?.causes?.[0]?.message ?? status.message ?? "";
    return { code, message, retryAfter: status.details?.retryAfterSeconds };
  }
  throw new Error("the disruption was allowed");
}

test("disrupted() enters the pod and counts down, and reports when nothing is left", () => {
  const first = disrupted(budget({ disruptionsAllowed: 2, disruptedPods: { a: "2025-12-31T00:00:00Z" } }), "p", nowMs);
  expect(first.status).toMatchObject({
    observedGeneration: 2,
    disruptionsAllowed: 1,
    disruptedPods: { a: "2025-12-31T00:00:00Z", p: "2026-01-01T00:00:00Z" },
  });
  const last = disrupted(first, "q", nowMs);
  expect(last.status?.disruptionsAllowed).toBe(0);
  expect(last.status?.conditions).toEqual([
    {
      type: "DisruptionAllowed",
      status: "False",
      observedGeneration: 2,
      lastTransitionTime: "2026-01-01T00:00:00Z",
      reason: "InsufficientPods",
      message: "",
    },
  ]);
});

const failedSync = { type: "DisruptionAllowed", status: "False", reason: "SyncFailed", message: "no controller" };
const manyPods = Object.fromEntries(Array.from({ length: 2001 }, (_, at) => [`p${at}`, "2026-01-01T00:00:00Z"]));

test.each([
  [
    "its controller has not seen it",
    { observedGeneration: 1, disruptionsAllowed: 1 },
    429,
    "The disruption budget web is still being processed by the server.",
    10,
  ],
  [
    "nothing is left",
    { disruptionsAllowed: 0, desiredHealthy: 3, currentHealthy: 2 },
    429,
    "The disruption budget web needs 3 healthy pods and has 2 currently",
    undefined,
  ],
  [
    "it failed to sync",
    { conditions: [failedSync] },
    429,
    "The disruption budget web does not allow evicting pods currently because it failed sync: no controller",
    undefined,
  ],
  [
    "it allows less than nothing",
    { disruptionsAllowed: -1 },
    403,
    'poddisruptionbudget.policy "web" is forbidden: pdb disruptions allowed is negative',
    undefined,
  ],
  [
    "too many evictions are not confirmed",
    { disruptionsAllowed: 1, disruptedPods: manyPods },
    403,
    'poddisruptionbudget.policy "web" is forbidden: DisruptedPods map too big - too many evictions not confirmed by PDB controller',
    undefined,
  ],
] as const)("disrupted() refuses when %s", (_name, status, code, message, retryAfter) => {
  expect(refusalOf(budget(status as Partial<PodDisruptionBudgetStatus>))).toEqual({ code, message, retryAfter });
});

test.each([
  [undefined, false],
  [{}, true],
  [{ matchLabels: { app: "web" } }, true],
  [{ matchLabels: { app: "other" } }, false],
  [{ matchExpressions: [{ key: "app", operator: "Sometimes" }] }, false],
] as const)("covers() with selector %j is %p", (selector, expected) => {
  const spec = selector === undefined ? {} : { selector: structuredClone(selector) as never };
  expect(covers(budget({}, { spec }), { app: "web" })).toBe(expected);
});

test.each([
  [undefined, 1, 1, true],
  ["IfHealthyBudget", 2, 1, false],
  ["IfHealthyBudget", 0, 0, false],
  ["AlwaysAllow", 2, 0, true],
] as const)("sparesUnready() under %p with %d desired and %d healthy is %p", (policy, desired, current, expected) => {
  const spec = policy === undefined ? {} : { unhealthyPodEvictionPolicy: policy };
  expect(sparesUnready(budget({ desiredHealthy: desired, currentHealthy: current }, { spec }))).toBe(expected);
});

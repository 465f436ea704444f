import { describe, expect, test } from "bun:test";
import type { Probe } from "../../../api/types/core-v1.ts";
import type { ProbeKind } from "../pod-view.ts";
import { afterOutcome, newProbeState, type ProbeState } from "./probe-state.ts";

const probe: Probe = { periodSeconds: 5, initialDelaySeconds: 3, failureThreshold: 3, successThreshold: 2 };

/** Returns the result after each outcome: `+` for a success, `-` for a failure. */
function results(kind: ProbeKind, outcomes: string, spec: Probe = probe): string[] {
  let state: ProbeState = newProbeState("c", kind, spec, 0);
  return [...outcomes].map((outcome) => {
    state = afterOutcome(state, kind, spec, outcome === "+" ? "success" : "failure", 0);
    return `${state.result}${state.dueMs === undefined ? ", the last" : ""}`;
  });
}

test("the first probe waits for the delay, and the others follow at their interval", () => {
  const first = newProbeState("c", "readiness", probe, 1_000);
  expect(first).toMatchObject({ result: "failure", dueMs: 4_000 });
  expect(afterOutcome(first, "readiness", probe, "success", 4_100).dueMs).toBe(9_100);
});

describe("thresholds", () => {
  const failure = ["failure"];
  const cases: readonly [ProbeKind, string, string[]][] = [
    ["readiness", "+", failure],
    ["readiness", "++", ["failure", "success"]],
    ["readiness", "+-+", ["failure", "failure", "failure"]],
    ["readiness", "++--+---", ["failure", "success", "success", "success", "success", "success", "success", "failure"]],
    ["liveness", "--", ["success", "success"]],
    ["liveness", "---", ["success", "success", "failure, the last"]],
    ["startup", "--++", ["unknown", "unknown", "unknown", "success, the last"]],
    ["startup", "---", ["unknown", "unknown", "failure, the last"]],
  ];
  test.each(cases)("of a %s probe: %s", (kind, outcomes, expected) => {
    expect(results(kind, outcomes)).toEqual(expected);
  });

  test("are 3 failures and 1 success by default", () => {
    expect(results("readiness", "+---", {})).toEqual(["success", "success", "success", "failure"]);
  });
});

test("results from before a restart of the agent are kept", () => {
  expect(newProbeState("c", "readiness", probe, 0, "success")).toMatchObject({ result: "success", dueMs: 3_000 });
  expect(newProbeState("c", "startup", probe, 0, "success").dueMs).toBeUndefined();
});

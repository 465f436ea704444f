import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import type { Condition } from "./conditions.ts";
import { withStatus } from "./definition-status.ts";

const names = { plural: "apples", singular: "apple", kind: "Apple", listKind: "AppleList" };
const nowMs = Date.UTC(2026, 0, 1);
const laterMs = nowMs + 60_000;

function definition(spec: JsonObject = {}, annotations?: Record<string, string>): KubeObject {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "apples.example.com", ...(annotations === undefined ? {} : { annotations }) },
    spec: { group: "example.com", names, ...spec },
  };
}

function conditionsOf(object: KubeObject | undefined): unknown[] {
  return ((object?.["status"] as JsonObject | undefined)?.["conditions"] ?? []) as unknown[];
}

describe("withStatus()", () => {
  test("accepts the names and establishes the definition", () => {
    const settled = withStatus(definition(), { others: [], nowMs });
    expect(conditionsOf(settled)).toEqual([
      {
        type: "NamesAccepted",
        status: "True",
        lastTransitionTime: "2026-01-01T00:00:00Z",
        reason: "NoConflicts",
        message: "no conflicts found",
      },
      {
        type: "Established",
        status: "True",
        lastTransitionTime: "2026-01-01T00:00:00Z",
        reason: "InitialNamesAccepted",
        message: "the initial names have been accepted",
      },
    ]);
    expect(withStatus(settled as KubeObject, { others: [], nowMs: laterMs })).toBeUndefined();
  });

  test("establishes nothing while a name is taken, and keeps established what asks for a taken name later", () => {
    const refused = withStatus(definition(), { others: [{ kind: "Apple" }], nowMs });
    expect(conditionsOf(refused)).toMatchObject([
      { type: "NamesAccepted", status: "False", reason: "KindConflict" },
      { type: "Established", status: "False", reason: "NotAccepted" },
    ]);
    const settled = withStatus(definition(), { others: [], nowMs }) as KubeObject;
    const renamed = { ...settled, spec: { group: "example.com", names: { ...names, singular: "fruit" } } };
    expect(conditionsOf(withStatus(renamed, { others: [{ singular: "fruit" }], nowMs: laterMs }))).toMatchObject([
      { type: "NamesAccepted", status: "False", reason: "SingularConflict" },
      { type: "Established", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" },
    ]);
  });

  test.each([
    [undefined, "False", "MissingAnnotation"],
    ["unapproved, a test", "False", "UnapprovedAnnotation"],
    ["https://example.com/approved", "True", "ApprovedAnnotation"],
    ["yes", "False", "InvalidAnnotation"],
  ])("judges the approval %p of a protected group", (approval, status, reason) => {
    const annotations = approval === undefined ? undefined : { "api-approved.kubernetes.io": approval };
    const settled = withStatus(definition({ group: "x.k8s.io" }, annotations), { others: [], nowMs });
    expect(conditionsOf(settled)).toContainEqual(
      expect.objectContaining({ type: "KubernetesAPIApprovalPolicyConformant", status, reason }),
    );
  });

  test("reports schemas that are not structural until they are", () => {
    const broken: Condition = { type: "NonStructuralSchema", status: "True", reason: "Violations", message: "m" };
    const facts = { others: [], nowMs };
    const reported = withStatus(definition(), { ...facts, nonStructural: broken }) as KubeObject;
    expect(conditionsOf(reported).at(-1)).toEqual({ ...broken, lastTransitionTime: "2026-01-01T00:00:00Z" });
    const mended = conditionsOf(withStatus(reported, facts)) as { type: string }[];
    expect(mended.map(({ type }) => type)).toEqual(["NamesAccepted", "Established"]);
  });
});

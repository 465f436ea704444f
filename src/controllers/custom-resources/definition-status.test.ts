import { describe, expect, test } from "bun:test";
import type { CustomResourceDefinition, CustomResourceDefinitionSpec } from "../../api/types/apiextensions-v1.ts";
import type { Condition } from "./conditions.ts";
import { withStatus } from "./definition-status.ts";

const names = { plural: "apples", singular: "apple", kind: "Apple", listKind: "AppleList" };
const nowMs = Date.UTC(2026, 0, 1);
const laterMs = nowMs + 60_000;

function definition(
  spec: Partial<CustomResourceDefinitionSpec> = {},
  annotations?: Record<string, string>,
): CustomResourceDefinition {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "apples.example.com", ...(annotations === undefined ? {} : { annotations }) },
    spec: { group: "example.com", names, scope: "Namespaced", versions: null, ...spec },
  };
}

function conditionsOf(object: CustomResourceDefinition | undefined): unknown[] {
  return object?.status?.conditions ?? [];
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
    expect(withStatus(settled as CustomResourceDefinition, { others: [], nowMs: laterMs })).toBeUndefined();
  });

  test("establishes no definition while a name is taken, and keeps one that asks for a taken name later established", () => {
    const refused = withStatus(definition(), { others: [{ plural: "", kind: "Apple" }], nowMs });
    expect(conditionsOf(refused)).toMatchObject([
      { type: "NamesAccepted", status: "False", reason: "KindConflict" },
      { type: "Established", status: "False", reason: "NotAccepted" },
    ]);
    const settled = withStatus(definition(), { others: [], nowMs }) as CustomResourceDefinition;
    const renamed = { ...settled, spec: { ...settled.spec, names: { ...names, singular: "fruit" } } };
    const others = [{ plural: "", kind: "", singular: "fruit" }];
    expect(conditionsOf(withStatus(renamed, { others, nowMs: laterMs }))).toMatchObject([
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
    const reported = withStatus(definition(), { ...facts, nonStructural: broken }) as CustomResourceDefinition;
    expect(conditionsOf(reported).at(-1)).toEqual({ ...broken, lastTransitionTime: "2026-01-01T00:00:00Z" });
    const mended = conditionsOf(withStatus(reported, facts)) as { type: string }[];
    expect(mended.map(({ type }) => type)).toEqual(["NamesAccepted", "Established"]);
  });
});

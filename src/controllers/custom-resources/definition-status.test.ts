import { describe, expect, test } from "bun:test";
import type { CustomResourceDefinition, CustomResourceDefinitionSpec } from "../../api/types/apiextensions-v1.ts";
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
    const settled = withStatus(definition(), [], nowMs);
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
    expect(withStatus(settled as CustomResourceDefinition, [], laterMs)).toBeUndefined();
  });

  test("establishes no definition while a name is taken, and keeps one that asks for a taken name later established", () => {
    const refused = withStatus(definition(), [{ plural: "", kind: "Apple" }], nowMs);
    expect(conditionsOf(refused)).toMatchObject([
      { type: "NamesAccepted", status: "False", reason: "KindConflict" },
      { type: "Established", status: "False", reason: "NotAccepted" },
    ]);
    const settled = withStatus(definition(), [], nowMs) as CustomResourceDefinition;
    const renamed = { ...settled, spec: { ...settled.spec, names: { ...names, singular: "fruit" } } };
    expect(conditionsOf(withStatus(renamed, [{ plural: "", kind: "", singular: "fruit" }], laterMs))).toMatchObject([
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
    const settled = withStatus(definition({ group: "x.k8s.io" }, annotations), [], nowMs);
    expect(conditionsOf(settled)).toContainEqual(
      expect.objectContaining({ type: "KubernetesAPIApprovalPolicyConformant", status, reason }),
    );
  });
});

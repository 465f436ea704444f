import { expect, test } from "bun:test";
import { reportConflicts } from "./conflicts.ts";
import { FieldSet } from "./field-set.ts";
import { ManagerEntry } from "./manager-entry.ts";

function owner(manager: string, operation: "Apply" | "Update", subresource = ""): ManagerEntry {
  return new ManagerEntry({ manager, operation, apiVersion: "apps/v1", subresource }, "", FieldSet.of());
}
const replicas = FieldSet.of(["f:spec", "f:replicas"]);

test("one conflict is one line", () => {
  expect(reportConflicts([{ owner: owner("a", "Update"), fields: replicas }])).toEqual({
    message: 'Apply failed with 1 conflict: conflict with "a" using apps/v1: .spec.replicas',
    causes: [{ type: "FieldManagerConflict", message: 'conflict with "a" using apps/v1', field: ".spec.replicas" }],
  });
});

test("several are listed by owner, in the order of the owners' identities", () => {
  const { message, causes } = reportConflicts([
    { owner: owner("b", "Update", "status"), fields: replicas },
    { owner: owner("a", "Apply"), fields: FieldSet.of(["f:spec", "f:paused"], ["f:spec"]) },
  ]);
  expect(message).toBe(
    [
      'Apply failed with 3 conflicts: conflicts with "a":',
      "- .spec",
      "- .spec.paused",
      'conflicts with "b" with subresource "status" using apps/v1:',
      "- .spec.replicas",
    ].join("\n"),
  );
  expect(causes.map(({ field }) => field)).toEqual([".spec", ".spec.paused", ".spec.replicas"]);
});

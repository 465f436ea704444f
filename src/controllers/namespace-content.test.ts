import { expect, test } from "bun:test";
import type { Namespace } from "../api/types/core-v1.ts";
import { NamespaceContent, withContentConditions } from "./namespace-content.ts";

const firstMs = Date.parse("2026-01-02T03:04:05Z");
const pods = { group: "", resource: "pods" };
const deployments = { group: "apps", resource: "deployments" };
const terminating: Namespace = {
  kind: "Namespace",
  apiVersion: "v1",
  metadata: { name: "n" },
  status: { phase: "Terminating" },
};

const told = (namespace: Namespace) =>
  (namespace.status?.conditions ?? []).map(({ type, status, reason, message }) => [type, status, reason, message]);

test("the conditions name the remaining objects, their finalizers and the failures", () => {
  const content = new NamespaceContent();
  content.add(pods, { finalizers: ["x/y"] });
  content.add(pods, {});
  content.add(deployments, { finalizers: ["x/y", "foregroundDeletion"] });
  content.addFailure("no");
  content.addFailure("never");
  expect(content.isEmpty).toBe(false);
  expect(told(withContentConditions(terminating, content, firstMs))).toEqual([
    ["NamespaceDeletionDiscoveryFailure", "False", "ResourcesDiscovered", "All resources successfully discovered"],
    [
      "NamespaceDeletionGroupVersionParsingFailure",
      "False",
      "ParsedGroupVersions",
      "All legacy kube types successfully parsed",
    ],
    [
      "NamespaceDeletionContentFailure",
      "True",
      "ContentDeletionFailed",
      "Failed to delete all resource types, 2 remaining: never, no",
    ],
    [
      "NamespaceContentRemaining",
      "True",
      "SomeResourcesRemain",
      "Some resources are remaining: deployments.apps has 1 resource instances, pods. has 2 resource instances",
    ],
    [
      "NamespaceFinalizersRemaining",
      "True",
      "SomeFinalizersRemain",
      "Some content in the namespace has finalizers remaining: foregroundDeletion in 1 resource instances, x/y in 2 resource instances",
    ],
  ]);
});

test("a condition keeps its time until its status changes", () => {
  const content = new NamespaceContent();
  content.add(pods, {});
  const before = withContentConditions(terminating, content, firstMs);
  const after = withContentConditions(before, new NamespaceContent(), firstMs + 5_000);
  const times = (after.status?.conditions ?? []).map(({ reason, lastTransitionTime }) => [reason, lastTransitionTime]);
  expect(times).toEqual([
    ["ResourcesDiscovered", "2026-01-02T03:04:05Z"],
    ["ParsedGroupVersions", "2026-01-02T03:04:05Z"],
    ["ContentDeleted", "2026-01-02T03:04:05Z"],
    ["ContentRemoved", "2026-01-02T03:04:10Z"],
    ["ContentHasNoFinalizers", "2026-01-02T03:04:05Z"],
  ]);
});

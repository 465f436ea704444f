import { expect, test } from "bun:test";
import type { KubeObject } from "../../api/object-meta.ts";
import { finalizerWarnings } from "./finalizer-warnings.ts";

function objectWith(...finalizers: string[]): KubeObject {
  return { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "a", finalizers } };
}

test("finalizers without a domain or a path are warned about, in order of their names", () => {
  const advice = "to avoid accidental conflicts with other finalizer writers";
  expect(finalizerWarnings(objectWith("b", "a.example.com", "a.example.com/x", "orphan"))).toEqual([
    `metadata.finalizers: "a.example.com": prefer a domain-qualified finalizer name including a path (/) ${advice}`,
    `metadata.finalizers: "b": prefer a domain-qualified finalizer name ${advice}`,
  ]);
});

test("an update is warned about what it adds", () => {
  expect(finalizerWarnings(objectWith("b"), objectWith("b"))).toEqual([]);
});

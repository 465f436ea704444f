import { expect, test } from "bun:test";
import { compareVersions } from "./version-order.ts";

test("stable versions come first, then beta, then alpha, then names of another form", () => {
  const ordered = [
    "v10",
    "v2",
    "v1",
    "v11beta2",
    "v10beta3",
    "v3beta1",
    "v12alpha1",
    "v11alpha2",
    "foo1",
    "foo10",
    "v0",
  ];
  expect(ordered.toReversed().sort(compareVersions)).toEqual(ordered);
  for (const version of ordered) expect(compareVersions(version, version)).toBe(0);
});

import { expect, test } from "bun:test";
import { StatusError } from "../api/status.ts";
import { unservedPath } from "./unserved-path.ts";

const known = { groups: () => [{ group: "" }, { group: "apps" }] };

test.each([
  ["/api/v2", true],
  ["/api/v2/pods", true],
  ["/apis/apps/v9/deployments", true],
  ["/apis/none.example.com/v1", false],
  ["/apis/", false],
  ["/other", false],
] as const)("%s is answered with a Status: %p", (path, isStatus) => {
  const error = unservedPath(path, known);
  expect(error.code).toBe(404);
  expect(error instanceof StatusError).toBe(isStatus);
});

import { expect, test } from "bun:test";
import { goType } from "./go-type.ts";

test.each([
  ["", "Pod", "core.Pod"],
  ["apps", "Deployment", "apps.Deployment"],
  ["rbac.authorization.k8s.io", "Role", "rbac.Role"],
  ["events.k8s.io", "Event", "core.Event"],
])("the type of %s %s is %s", (group, kind, type) => {
  expect(goType({ group, kind })).toBe(type);
});

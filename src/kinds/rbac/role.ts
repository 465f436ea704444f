import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { pathSegmentProblems } from "../../api/validation/names.ts";
import { validateRole } from "./validation/role.ts";
import { builtInKind, stored } from "../../registry/kind.ts";

export const roleStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  allowCreateOnUpdate: true,
  validateName: pathSegmentProblems,
  validate: validateRole,
};

export const role = builtInKind("roles.rbac.authorization.k8s.io", {
  endpoint: stored(roleStrategy),
});

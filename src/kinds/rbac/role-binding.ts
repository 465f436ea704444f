import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { pathSegmentProblems } from "../../api/validation/names.ts";
import { validateRoleBinding, validateRoleBindingUpdate } from "./validation/role-binding.ts";
import { builtInKind, stored } from "../../registry/kind.ts";

export const roleBindingStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  allowCreateOnUpdate: true,
  validateName: pathSegmentProblems,
  validate: validateRoleBinding,
  validateUpdate: validateRoleBindingUpdate,
};

export const roleBinding = builtInKind("rolebindings.rbac.authorization.k8s.io", {
  endpoint: stored(roleBindingStrategy),
});

import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { pathSegmentProblems } from "../../api/validation/names.ts";
import {
  validateClusterRoleBinding,
  validateRoleBinding,
  validateRoleBindingUpdate,
} from "../validation/role-binding.ts";

export const roleBindingStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  allowCreateOnUpdate: true,
  validateName: pathSegmentProblems,
  validate: validateRoleBinding,
  validateUpdate: validateRoleBindingUpdate,
};

export const clusterRoleBindingStrategy: Strategy = { ...roleBindingStrategy, validate: validateClusterRoleBinding };

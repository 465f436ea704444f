import { defaultStrategy } from "../../default-strategy.ts";
import type { Strategy } from "../../strategy.ts";
import { pathSegmentProblems } from "../../validation/names.ts";
import {
  validateClusterRoleBinding,
  validateRoleBinding,
  validateRoleBindingUpdate,
} from "../../validation/role-binding.ts";

export const roleBindingStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  allowCreateOnUpdate: true,
  validateName: pathSegmentProblems,
  validate: validateRoleBinding,
  validateUpdate: validateRoleBindingUpdate,
};

export const clusterRoleBindingStrategy: Strategy = { ...roleBindingStrategy, validate: validateClusterRoleBinding };

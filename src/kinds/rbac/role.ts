import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { pathSegmentProblems } from "../../api/validation/names.ts";
import { validateClusterRole, validateRole } from "../validation/role.ts";

export const roleStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  allowCreateOnUpdate: true,
  validateName: pathSegmentProblems,
  validate: validateRole,
};

export const clusterRoleStrategy: Strategy = { ...roleStrategy, validate: validateClusterRole };

import type { Strategy } from "../../registry/strategy.ts";
import { dnsLabelProblems } from "../../api/validation/names.ts";
import {
  validateStatefulSet,
  validateStatefulSetStatusUpdate,
  validateStatefulSetUpdate,
} from "../validation/stateful-set.ts";
import { templateWarnings } from "../warnings/workload-warnings.ts";
import { specStrategy, statusRules } from "../spec-strategy.ts";

export const statefulSetStrategy: Strategy = {
  ...specStrategy,
  validateName: dnsLabelProblems,
  validate: (set, old) => validateStatefulSet(set, old),
  validateUpdate: validateStatefulSetUpdate,
  warnings: templateWarnings,
};

export const statefulSetStatusStrategy = statusRules(statefulSetStrategy, validateStatefulSetStatusUpdate);

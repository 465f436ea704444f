import type { Strategy } from "../../registry/strategy.ts";
import { dnsLabelProblems } from "../../api/validation/names.ts";
import {
  validateStatefulSet,
  validateStatefulSetStatusUpdate,
  validateStatefulSetUpdate,
} from "./validation/stateful-set.ts";
import { templateWarnings } from "../core/workload-warnings.ts";
import { specStrategy, statusRules } from "../spec-strategy.ts";
import { builtInKind, stored, subresource, view } from "../../registry/kind.ts";
import { scaleViewOf } from "../autoscaling/scale.ts";

const statefulSetStrategy: Strategy = {
  ...specStrategy,
  validateName: dnsLabelProblems,
  validate: (set, old) => validateStatefulSet(set, old),
  validateUpdate: validateStatefulSetUpdate,
  warnings: templateWarnings,
};

const statefulSetStatusStrategy = statusRules(statefulSetStrategy, validateStatefulSetStatusUpdate);

export const statefulSet = builtInKind("statefulsets.apps", {
  endpoint: stored(statefulSetStrategy),
  subresources: {
    scale: view(scaleViewOf),
    status: subresource(statefulSetStatusStrategy),
  },
});

import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import {
  trustBundleNameProblems,
  validateTrustBundle,
  validateTrustBundleUpdate,
} from "../validation/cluster-trust-bundle.ts";

export const clusterTrustBundleStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  allowUnconditionalUpdate: false,
  validateName: trustBundleNameProblems,
  validate: validateTrustBundle,
  validateUpdate: validateTrustBundleUpdate,
};

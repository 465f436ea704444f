import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import {
  trustBundleNameProblems,
  validateTrustBundle,
  validateTrustBundleUpdate,
} from "./validation/cluster-trust-bundle.ts";
import { builtInKind, stored } from "../../registry/kind.ts";

const clusterTrustBundleStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  allowUnconditionalUpdate: false,
  validateName: trustBundleNameProblems,
  validate: validateTrustBundle,
  validateUpdate: validateTrustBundleUpdate,
};

export const clusterTrustBundle = builtInKind("clustertrustbundles.certificates.k8s.io", {
  endpoint: stored(clusterTrustBundleStrategy),
});

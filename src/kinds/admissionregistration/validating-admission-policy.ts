import type { ValidatingAdmissionPolicy } from "../../api/types/admissionregistration-v1.ts";
import { statusStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateValidatingPolicy, validateValidatingPolicyStatus } from "./validation/admission-policy.ts";
import { policyStrategy } from "./admission-policy.ts";
import { admissionPolicyCells } from "./admission-policy-cells.ts";
import { defaultAdmissionRule } from "./defaults/admission-rule.ts";

const strategy: Strategy<ValidatingAdmissionPolicy> = {
  ...policyStrategy,
  resetFields: ["status"],
  validate: validateValidatingPolicy,
};

export const validatingAdmissionPolicy = builtInKind("validatingadmissionpolicies.admissionregistration.k8s.io", {
  endpoint: stored(strategy),
  table: { cells: admissionPolicyCells },
  defaults: {
    "admissionregistration/v1.NamedRuleWithOperations": defaultAdmissionRule,
  },
  subresources: {
    status: subresource({
      ...statusStrategy(strategy, { keepsMetadata: true }),
      validate: validateValidatingPolicyStatus,
    }),
  },
});

import type { ValidatingAdmissionPolicy } from "../../api/types/admissionregistration-v1.ts";
import { statusStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { defaultPolicyRule, policyStrategy, validatingPolicyCells } from "./admission-policy.ts";
import { validateValidatingPolicy, validateValidatingPolicyStatus } from "./validation/admission-policy.ts";

const strategy: Strategy<ValidatingAdmissionPolicy> = {
  ...policyStrategy,
  resetFields: ["status"],
  validateInTurns: validateValidatingPolicy,
};

export const validatingAdmissionPolicy = builtInKind("validatingadmissionpolicies.admissionregistration.k8s.io", {
  endpoint: stored(strategy),
  table: { cells: validatingPolicyCells },
  defaults: {
    "admissionregistration/v1.NamedRuleWithOperations": defaultPolicyRule,
  },
  subresources: {
    status: subresource({
      ...statusStrategy(strategy, { keepsMetadata: true }),
      validate: validateValidatingPolicyStatus,
    }),
  },
  descriptions: {
    "admissionregistration/v1.ValidatingAdmissionPolicy": {
      "": "Checks objects by expressions before they are stored.",
    },
    "admissionregistration/v1.ValidatingAdmissionPolicySpec": {
      "": "Requests and rules.",
      paramKind: "Kind of the objects with parameters.",
      matchConstraints: "Requests that come into question.",
      variables: "Named expressions, for use in others.",
      failurePolicy: "Effect of an error in an expression: Fail or Ignore.",
      matchConditions: "Expressions that all have to be true.",
      validations: "The rules.",
      auditAnnotations: "Annotations for the audit log.",
    },
    "admissionregistration/v1.ValidatingAdmissionPolicyStatus": {
      "": "Findings about the policy.",
      typeChecking: "Expressions that do not fit the types they are for.",
    },
  },
});

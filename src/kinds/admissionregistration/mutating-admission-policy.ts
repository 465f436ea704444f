import { builtInKind, stored } from "../../registry/kind.ts";
import { validateMutatingPolicy } from "./validation/admission-policy.ts";
import { policyStrategy } from "./admission-policy.ts";
import { admissionPolicyCells } from "./admission-policy-cells.ts";
import { defaultAdmissionRule } from "./defaults/admission-rule.ts";

export const mutatingAdmissionPolicy = builtInKind("mutatingadmissionpolicies.admissionregistration.k8s.io", {
  endpoint: stored({ ...policyStrategy, validate: validateMutatingPolicy }),
  table: { cells: admissionPolicyCells },
  defaults: {
    "admissionregistration/v1.NamedRuleWithOperations": defaultAdmissionRule,
  },
});

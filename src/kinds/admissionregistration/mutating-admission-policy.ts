import { builtInKind, stored } from "../../registry/kind.ts";
import { defaultPolicyRule, mutatingPolicyCells, policyStrategy } from "./admission-policy.ts";
import { validateMutatingPolicy } from "./validation/admission-policy.ts";

export const mutatingAdmissionPolicy = builtInKind("mutatingadmissionpolicies.admissionregistration.k8s.io", {
  endpoint: stored({ ...policyStrategy, validateInTurns: validateMutatingPolicy }),
  table: { cells: mutatingPolicyCells },
  defaults: {
    "admissionregistration/v1.NamedRuleWithOperations": defaultPolicyRule,
  },
  descriptions: {
    "admissionregistration/v1.MutatingAdmissionPolicy": {
      "": "Changes objects by expressions before they are stored.",
    },
    "admissionregistration/v1.MutatingAdmissionPolicySpec": {
      "": "Requests and changes.",
      paramKind: "Kind of the objects with parameters.",
      matchConstraints: "Requests that come into question.",
      variables: "Named expressions, for use in others.",
      failurePolicy: "Effect of an error in an expression: Fail or Ignore.",
      matchConditions: "Expressions that all have to be true.",
      mutations: "The changes.",
      reinvocationPolicy: "Never, or IfNeeded: again when others have changed the object.",
    },
  },
});

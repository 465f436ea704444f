import { builtInKind, stored } from "../../registry/kind.ts";
import { policyBindingCells, policyStrategy } from "./admission-policy.ts";
import { validateValidatingBinding } from "./validation/admission-policy-binding.ts";

export const validatingAdmissionPolicyBinding = builtInKind(
  "validatingadmissionpolicybindings.admissionregistration.k8s.io",
  {
    endpoint: stored({ ...policyStrategy, validate: validateValidatingBinding }),
    table: { cells: policyBindingCells },
    descriptions: {
      "admissionregistration/v1.ValidatingAdmissionPolicyBinding": { "": "Puts a validating policy into effect." },
      "admissionregistration/v1.ValidatingAdmissionPolicyBindingSpec": {
        "": "The policy, and the requests that it applies to.",
        policyName: "The policy.",
        paramRef: "The objects with parameters.",
        matchResources: "Narrows down the requests of the policy.",
        validationActions: "Effects of a violated rule: Deny, Warn or Audit.",
      },
    },
  },
);

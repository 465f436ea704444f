import { builtInKind, stored } from "../../registry/kind.ts";
import { policyBindingCells, policyStrategy } from "./admission-policy.ts";
import { validateMutatingBinding } from "./validation/admission-policy-binding.ts";

export const mutatingAdmissionPolicyBinding = builtInKind(
  "mutatingadmissionpolicybindings.admissionregistration.k8s.io",
  {
    endpoint: stored({ ...policyStrategy, validate: validateMutatingBinding }),
    table: { cells: policyBindingCells },
    descriptions: {
      "admissionregistration/v1.MutatingAdmissionPolicyBinding": { "": "Puts a mutating policy into effect." },
      "admissionregistration/v1.MutatingAdmissionPolicyBindingSpec": {
        "": "The policy, and the requests that it applies to.",
        policyName: "The policy.",
        paramRef: "The objects with parameters.",
        matchResources: "Narrows down the requests of the policy.",
      },
    },
  },
);

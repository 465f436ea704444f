import { builtInKind, stored } from "../../registry/kind.ts";
import { validateMutatingBinding } from "./validation/admission-policy-binding.ts";
import { policyStrategy } from "./admission-policy.ts";
import { admissionPolicyBindingCells } from "./admission-policy-cells.ts";

export const mutatingAdmissionPolicyBinding = builtInKind(
  "mutatingadmissionpolicybindings.admissionregistration.k8s.io",
  {
    endpoint: stored({ ...policyStrategy, validate: validateMutatingBinding }),
    table: { cells: admissionPolicyBindingCells },
  },
);

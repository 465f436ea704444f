import { builtInKind, stored } from "../../registry/kind.ts";
import { validateValidatingBinding } from "./validation/admission-policy-binding.ts";
import { policyStrategy } from "./admission-policy.ts";
import { admissionPolicyBindingCells } from "./admission-policy-cells.ts";

export const validatingAdmissionPolicyBinding = builtInKind(
  "validatingadmissionpolicybindings.admissionregistration.k8s.io",
  {
    endpoint: stored({ ...policyStrategy, validate: validateValidatingBinding }),
    table: { cells: admissionPolicyBindingCells },
  },
);

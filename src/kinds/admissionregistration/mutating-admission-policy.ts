import { builtInKind, stored } from "../../registry/kind.ts";
import { validateMutatingPolicy } from "./validation/admission-policy.ts";
import { policyStrategy } from "./admission-policy.ts";

export const mutatingAdmissionPolicy = builtInKind("mutatingadmissionpolicies.admissionregistration.k8s.io", {
  endpoint: stored({ ...policyStrategy, validate: validateMutatingPolicy }),
});

import type { AdmissionAttributes } from "../../registry/admission.ts";

/** Policies never see themselves, so that a mistake in one can be mended. */
const policies = new Set([
  "mutatingadmissionpolicies",
  "mutatingadmissionpolicybindings",
  "validatingadmissionpolicies",
  "validatingadmissionpolicybindings",
]);
/**
 * Resources by group. Reviews are questions to authenticators and authorizers, and a cluster does nothing without their
 * answers.
 */
const exempt: Readonly<Record<string, ReadonlySet<string>>> = {
  "admissionregistration.k8s.io": policies,
  "authentication.k8s.io": new Set(["selfsubjectreviews", "tokenreviews"]),
  "authorization.k8s.io": new Set([
    "localsubjectaccessreviews",
    "selfsubjectaccessreviews",
    "selfsubjectrulesreviews",
    "subjectaccessreviews",
  ]),
};

/** Reports whether no policy applies to the resource of a request. */
export function isExemptFromPolicies({ info }: Pick<AdmissionAttributes, "info">): boolean {
  return exempt[info.group]?.has(info.resource) ?? false;
}

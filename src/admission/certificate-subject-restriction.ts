import type { CertificateSigningRequest } from "../api/types/certificates-v1.ts";
import type { AdmissionPlugin } from "../registry/admission.ts";
import { isObjectWrite, refuse } from "./attributes.ts";
import { requestedOrganizations, signerNameOf, signingRequests } from "./signing-request.ts";

const clientSigner = "kubernetes.io/kube-apiserver-client";
const mastersGroup = "system:masters";

/** Rejects requests for a certificate of the group that may do everything. */
export function certificateSubjectRestriction(): AdmissionPlugin {
  return {
    name: "CertificateSubjectRestriction",
    validate(attributes) {
      const { operation, object } = attributes;
      if (operation !== "CREATE" || object === undefined || !isObjectWrite(attributes, signingRequests)) return;
      if (signerNameOf(object) !== clientSigner) return;
      const { request } = (object as CertificateSigningRequest).spec;
      if (!requestedOrganizations(request ?? "").includes(mastersGroup)) return;
      throw refuse(attributes, `use of ${clientSigner} signer with ${mastersGroup} group is not allowed`);
    },
  };
}

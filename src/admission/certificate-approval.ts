import type { AdmissionPlugin } from "../registry/admission.ts";
import { isResource, refuse } from "./attributes.ts";
import { type Authorize, mayUseSigner } from "./authorization.ts";
import { signerNameOf, signingRequests } from "./signing-request.ts";

/** Requires permission for the signer to approve a signing request. */
export function certificateApproval({ authorize }: { authorize: Authorize }): AdmissionPlugin {
  return {
    name: "CertificateApproval",
    async validate(attributes) {
      const { operation, subresource, oldObject, user } = attributes;
      if (operation !== "UPDATE" || subresource !== "approval" || oldObject === undefined) return;
      if (!isResource(attributes, signingRequests.group, signingRequests.resource)) return;
      const signer = signerNameOf(oldObject);
      if (await mayUseSigner(authorize, user, "approve", signer)) return;
      throw refuse(attributes, `user not permitted to approve requests with signerName ${JSON.stringify(signer)}`);
    },
  };
}

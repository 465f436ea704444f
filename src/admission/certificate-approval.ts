import type { AdmissionAttributes, AdmissionPlugin } from "../registry/admission.ts";
import { isResource, refuse } from "./attributes.ts";
import { type Authorize, mayUseSigner } from "./authorization.ts";
import { signerNameOf, signingRequests } from "./signing-request.ts";

/** Requires permission for the signer to approve a signing request. */
export function certificateApproval({ authorize }: { authorize: Authorize }): AdmissionPlugin {
  return {
    name: "CertificateApproval",
    validate(attributes) {
      const { operation, subresource, oldObject } = attributes;
      if (operation !== "UPDATE" || subresource !== "approval" || oldObject === undefined) return;
      if (!isResource(attributes, signingRequests.group, signingRequests.resource)) return;
      return checkSigner(attributes, signerNameOf(oldObject), authorize);
    },
  };
}

async function checkSigner(attributes: AdmissionAttributes, signer: string, authorize: Authorize): Promise<void> {
  if (await mayUseSigner(authorize, attributes.user, "approve", signer)) return;
  throw refuse(attributes, `user not permitted to approve requests with signerName ${JSON.stringify(signer)}`);
}

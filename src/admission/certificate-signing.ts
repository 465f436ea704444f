import { equalJson, type JsonValue } from "../api/json.ts";
import type { KubeObject } from "../api/object-meta.ts";
import type { CertificateSigningRequest } from "../api/types/certificates-v1.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../registry/admission.ts";
import { isResource, refuse } from "./attributes.ts";
import { type Authorize, mayUseSigner } from "./authorization.ts";
import { signerNameOf, signingRequests } from "./signing-request.ts";

/** Requires permission for the signer to issue a certificate or set the request's conditions. */
export function certificateSigning({ authorize }: { authorize: Authorize }): AdmissionPlugin {
  return {
    name: "CertificateSigning",
    validate(attributes) {
      const { operation, subresource, object, oldObject } = attributes;
      if (operation !== "UPDATE" || subresource !== "status") return;
      if (object === undefined || oldObject === undefined) return;
      if (!isResource(attributes, signingRequests.group, signingRequests.resource)) return;
      if (equalJson(issuedBy(object), issuedBy(oldObject))) return;
      return checkSigner(attributes, signerNameOf(oldObject), authorize);
    },
  };
}

async function checkSigner(attributes: AdmissionAttributes, signer: string, authorize: Authorize): Promise<void> {
  if (await mayUseSigner(authorize, attributes.user, "sign", signer)) return;
  throw refuse(attributes, `user not permitted to sign requests with signerName ${JSON.stringify(signer)}`);
}

function issuedBy(request: KubeObject): JsonValue {
  const { certificate = "", conditions = [] } = (request as CertificateSigningRequest).status ?? {};
  return { certificate, conditions };
}

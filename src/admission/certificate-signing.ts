import { equalJson, type JsonValue } from "../api/json.ts";
import type { KubeObject } from "../api/object-meta.ts";
import type { AdmissionPlugin } from "../registry/admission.ts";
import { isResource, refuse } from "./attributes.ts";
import { type Authorize, mayUseSigner } from "./authorization.ts";
import { signerNameOf, signingRequests } from "./signing-request.ts";
import type { CertificateSigningRequest } from "../api/types/certificates-v1.ts";

/** Requires permission for the signer to issue a certificate or set the request's conditions. */
export function certificateSigning({ authorize }: { authorize: Authorize }): AdmissionPlugin {
  return {
    name: "CertificateSigning",
    async validate(attributes) {
      const { operation, subresource, object, oldObject, user } = attributes;
      if (operation !== "UPDATE" || subresource !== "status") return;
      if (object === undefined || oldObject === undefined) return;
      if (!isResource(attributes, signingRequests.group, signingRequests.resource)) return;
      if (equalJson(issuedBy(object), issuedBy(oldObject))) return;
      const signer = signerNameOf(oldObject);
      if (await mayUseSigner(authorize, user, "sign", signer)) return;
      throw refuse(attributes, `user not permitted to sign requests with signerName ${JSON.stringify(signer)}`);
    },
  };
}

function issuedBy(request: KubeObject): JsonValue {
  const { certificate = "", conditions = [] } = (request as CertificateSigningRequest).status ?? {};
  return { certificate, conditions };
}

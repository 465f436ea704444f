import { type CertificateRequest, parseCertificateRequest } from "../access/certificates/certificate-request.ts";
import type { KubeObject } from "../api/object-meta.ts";
import type { CertificateSigningRequest } from "../api/types/certificates-v1.ts";

export const signingRequests = { group: "certificates.k8s.io", resource: "certificatesigningrequests" };

export function signerNameOf(request: KubeObject): string {
  return (request as CertificateSigningRequest).spec.signerName;
}

/**
 * Returns the organizations in the subject of a PKCS #10 request. Empty for an invalid request, which validation
 * rejects.
 * @param pem the request's PEM text, in base64
 */
export function requestedOrganizations(pem: string): readonly string[] {
  return requestIn(pem)?.organizations ?? [];
}

/** Returns the common name in the subject, or undefined unless it occurs once. */
export function requestedCommonName(pem: string): string | undefined {
  return requestIn(pem)?.commonName;
}

function requestIn(pem: string): CertificateRequest | undefined {
  return parseCertificateRequest(Buffer.from(pem, "base64").toString("latin1"));
}

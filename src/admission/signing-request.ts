import { derElements } from "../api/der.ts";
import type { KubeObject } from "../api/object-meta.ts";

export const signingRequests = { group: "certificates.k8s.io", resource: "certificatesigningrequests" };

export function signerNameOf(request: KubeObject): string {
  return (request["spec"] as { signerName?: string } | undefined)?.signerName ?? "";
}

const commonNameOid = Buffer.from("550403", "hex");
const organizationOid = Buffer.from("55040a", "hex");
const sequenceTag = 0x30;
const setTag = 0x31;

/**
 * The organizations in the subject of a PKCS #10 request. Empty for bytes that are none: judging those is validation's
 * business.
 * @param pem the request's PEM text, in base64
 */
export function requestedOrganizations(pem: string): readonly string[] {
  return requestedSubject(pem)
    .filter(({ oid }) => oid.equals(organizationOid))
    .map(({ value }) => value);
}

/** The common name in the subject, undefined where there is none. Of several the last one counts, as for a certificate. */
export function requestedCommonName(pem: string): string | undefined {
  return requestedSubject(pem).findLast(({ oid }) => oid.equals(commonNameOid))?.value;
}

function requestedSubject(pem: string): ReturnType<typeof subjectOf> {
  const text = Buffer.from(pem, "base64").toString("latin1");
  const match = /-----BEGIN (?:NEW )?CERTIFICATE REQUEST-----([A-Za-z0-9+/=\s]*)-----END/.exec(text);
  return subjectOf(Buffer.from(match?.[1] ?? "", "base64"));
}

/** CertificationRequest { CertificationRequestInfo { version, subject: Name, … }, … } of RFC 2986. */
function subjectOf(der: Buffer): readonly { oid: Buffer; value: string }[] {
  const [request] = derElements(der);
  const [info] = derElements(request?.content);
  const name = derElements(info?.content)[1];
  return derElements(name?.tag === sequenceTag ? name.content : undefined)
    .filter(({ tag }) => tag === setTag)
    .flatMap(({ content }) => derElements(content))
    .map(({ content }) => {
      const [oid, value] = derElements(content);
      return { oid: oid?.content ?? Buffer.alloc(0), value: value?.content.toString("utf8") ?? "" };
    });
}

import type { KubeObject } from "../api/object-meta.ts";

export const signingRequests = { group: "certificates.k8s.io", resource: "certificatesigningrequests" };

export function signerNameOf(request: KubeObject): string {
  return (request["spec"] as { signerName?: string } | undefined)?.signerName ?? "";
}

const organizationOid = Buffer.from("55040a", "hex");
const sequenceTag = 0x30;
const setTag = 0x31;

/**
 * The organizations in the subject of a PKCS #10 request. Empty for bytes that are none: judging those is validation's
 * business.
 * @param pem the request's PEM text, in base64
 */
export function requestedOrganizations(pem: string): readonly string[] {
  const text = Buffer.from(pem, "base64").toString("latin1");
  const match = /-----BEGIN (?:NEW )?CERTIFICATE REQUEST-----([A-Za-z0-9+/=\s]*)-----END/.exec(text);
  const subject = subjectOf(Buffer.from(match?.[1] ?? "", "base64"));
  return subject.filter(({ oid }) => oid.equals(organizationOid)).map(({ value }) => value);
}

/** CertificationRequest { CertificationRequestInfo { version, subject: Name, … }, … } of RFC 2986. */
function subjectOf(der: Buffer): readonly { oid: Buffer; value: string }[] {
  const [request] = elements(der);
  const [info] = elements(request?.content);
  const name = elements(info?.content)[1];
  return elements(name?.tag === sequenceTag ? name.content : undefined)
    .filter(({ tag }) => tag === setTag)
    .flatMap(({ content }) => elements(content))
    .map(({ content }) => {
      const [oid, value] = elements(content);
      return { oid: oid?.content ?? Buffer.alloc(0), value: value?.content.toString("utf8") ?? "" };
    });
}

/** The elements of one DER sequence's content; what is cut short ends the list. */
function elements(bytes: Buffer | undefined): { tag: number; content: Buffer }[] {
  const found: { tag: number; content: Buffer }[] = [];
  for (let at = 0; bytes !== undefined && at + 2 <= bytes.length; ) {
    const tag = bytes[at] as number;
    const short = bytes[at + 1] as number;
    const lengthBytes = short < 0x80 ? 0 : short & 0x7f;
    if (lengthBytes > 4 || at + 2 + lengthBytes > bytes.length) break;
    const length = lengthBytes === 0 ? short & 0x7f : bytes.readUIntBE(at + 2, lengthBytes);
    const start = at + 2 + lengthBytes;
    if (start + length > bytes.length) break;
    found.push({ tag, content: bytes.subarray(start, start + length) });
    at = start + length;
  }
  return found;
}

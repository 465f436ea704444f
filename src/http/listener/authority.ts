import { type KeyObject, X509Certificate } from "node:crypto";
import { certificateBlocks } from "../../access/certificates/pem.ts";

/** One that issues client certificates. */
export interface Authority {
  readonly certificate: X509Certificate;
  readonly publicKey: KeyObject;
  /** For whom, its key and its name: a renewed authority vouches for whom the old one vouched for. */
  readonly id: string;
}

/** @param pem any number of certificates */
export function authoritiesOf(pem: string, whom: "clients" | "front proxies"): Authority[] {
  return certificateBlocks(pem).map((der) => {
    const certificate = new X509Certificate(der);
    const { publicKey, subject } = certificate;
    const key = publicKey.export({ type: "spki", format: "der" }).toString("base64");
    return { certificate, publicKey, id: `${whom} ${key} ${subject}` };
  });
}

/** Which of them has issued the certificate itself, without an intermediate. */
export function issuerAmong(authorities: readonly Authority[], certificate: X509Certificate): Authority | undefined {
  return authorities.find(
    (authority) => certificate.checkIssued(authority.certificate) && certificate.verify(authority.publicKey),
  );
}

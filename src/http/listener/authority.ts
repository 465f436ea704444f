import { type KeyObject, X509Certificate } from "node:crypto";
import { certificateBlocks } from "../../access/certificates/pem.ts";

/** An authority that issues client certificates. */
export interface Authority {
  readonly certificate: X509Certificate;
  readonly publicKey: KeyObject;
  /** Its purpose, key and name. They survive a renewal, so certificates of the old one stay valid. */
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

/** Returns the authority that issued the certificate directly, without an intermediate. */
export function issuerAmong(authorities: readonly Authority[], certificate: X509Certificate): Authority | undefined {
  return authorities.find(
    (authority) => certificate.checkIssued(authority.certificate) && certificate.verify(authority.publicKey),
  );
}

import { createHash, X509Certificate } from "node:crypto";
import { certificateBlocks } from "./pem.ts";

/** `sha256:<hex>` of a certificate's public key, as kubeadm has it: a name of an authority that nobody can forge. */
export type CertificatePin = string;

/** @param certificate PEM; of several the last one, which is the one next to the root */
export function pinOf(certificate: string): CertificatePin {
  return keyPin(new X509Certificate(certificateBlocks(certificate).at(-1) ?? certificate));
}

/** @param certificates PEM */
export function pinsOf(certificates: string): CertificatePin[] {
  return certificateBlocks(certificates).map((block) => keyPin(new X509Certificate(block)));
}

export function keyPin(certificate: X509Certificate): CertificatePin {
  const key = certificate.publicKey.export({ type: "spki", format: "der" });
  return `sha256:${createHash("sha256").update(key).digest("hex")}`;
}

/** @throws Error that says what is wrong, to follow the name of a flag */
export function parsePin(text: string): CertificatePin {
  const pin = text.toLowerCase();
  if (/^sha256:[0-9a-f]{64}$/.test(pin)) return pin;
  throw new Error(`${JSON.stringify(text)} is not sha256: and 64 hexadecimal digits`);
}

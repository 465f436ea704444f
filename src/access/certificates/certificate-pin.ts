import { X509Certificate } from "node:crypto";
import { sha256Text } from "../../api/sha256-text.ts";
import { certificateBlocks } from "./pem.ts";

/** The hash `sha256:<hex>` of a certificate's public key, as in kubeadm: an unforgeable identity of an authority. */
export type CertificatePin = string;

/**
 * Returns the pin of a certificate. @param certificate PEM; of several certificates, the last one is used, which is
 * closest to the root
 */
export function pinOf(certificate: string): CertificatePin {
  return keyPin(new X509Certificate(certificateBlocks(certificate).at(-1) ?? certificate));
}

/** Returns the pins of several certificates. @param certificates PEM */
export function pinsOf(certificates: string): CertificatePin[] {
  return certificateBlocks(certificates).map((block) => keyPin(new X509Certificate(block)));
}

export function keyPin(certificate: X509Certificate): CertificatePin {
  return sha256Text(certificate.publicKey.export({ type: "spki", format: "der" }));
}

/** Parses a pin. @throws Error that states the problem, for use after the name of a flag */
export function parsePin(text: string): CertificatePin {
  const pin = text.toLowerCase();
  if (/^sha256:[0-9a-f]{64}$/.test(pin)) return pin;
  throw new Error(`${JSON.stringify(text)} is not sha256: and 64 hexadecimal digits`);
}

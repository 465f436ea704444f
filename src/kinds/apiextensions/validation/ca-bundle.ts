import { X509Certificate } from "node:crypto";
import { type PemBlock, pemBlocks } from "../../../access/certificates/pem.ts";
import { type FieldError, fieldError } from "../../../api/field-error.ts";

/** Checks that a bundle, PEM in base64, holds a certificate that a client could trust. */
export function validateCaBundle(bundle: string, field: string): FieldError[] {
  const problem = bundleProblem(Buffer.from(bundle, "base64").toString("latin1"));
  return problem === undefined
    ? []
    : [fieldError.invalid(field, bundle, `unable to load root certificates: ${problem}`)];
}

function bundleProblem(pem: string): string | undefined {
  const blocks = pemBlocks(pem);
  const certificates = blocks.filter(({ type, hasHeaders }) => type === "CERTIFICATE" && !hasHeaders);
  if (certificates.some(isCertificate)) return undefined;
  if (certificates.length > 0) return "failed to parse certificate: x509: malformed certificate";
  return blocks.length === 0 ? "unable to parse bytes as PEM block" : "no valid certificate authority data seen";
}

function isCertificate({ der }: PemBlock): boolean {
  try {
    return new X509Certificate(der).raw.byteLength > 0;
  } catch {
    return false;
  }
}

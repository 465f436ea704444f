import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson } from "../../../api/json.ts";
import type * as certificatesV1 from "../../../api/types/certificates-v1.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { certificateRequestProblem } from "./certificate-request.ts";
import { validateSignerName } from "./signer-name.ts";

const legacySigner = "kubernetes.io/legacy-unknown";
const expirationSecondsMin = 600;
const usages = [
  "any",
  "cert sign",
  "client auth",
  "code signing",
  "content commitment",
  "crl sign",
  "data encipherment",
  "decipher only",
  "digital signature",
  "email protection",
  "encipher only",
  "ipsec end system",
  "ipsec tunnel",
  "ipsec user",
  "key agreement",
  "key encipherment",
  "microsoft sgc",
  "netscape sgc",
  "ocsp signing",
  "s/mime",
  "server auth",
  "signing",
  "timestamping",
];

/** Validates the question itself. The answer has rules of its own. */
export function validateSigningRequest(
  { spec }: certificatesV1.CertificateSigningRequest,
  old?: certificatesV1.CertificateSigningRequest,
): FieldError[] {
  if (old !== undefined && equalJson(spec, old.spec)) return [];
  const problem = certificateRequestProblem(Buffer.from(spec.request ?? "", "base64").toString("latin1"));
  return [
    ...(problem === undefined ? [] : [fieldError.invalid("spec.request", spec.request, problem)]),
    ...validateUsages(spec.usages ?? [], "spec.usages"),
    ...validateSigner(spec.signerName, "spec.signerName"),
    ...validateExpiration(spec.expirationSeconds, "spec.expirationSeconds"),
  ];
}

function validateUsages(given: readonly string[], field: string): FieldError[] {
  if (given.length === 0) return [fieldError.required(field)];
  const seen = new Set<string>();
  return [
    ...validateEach(given, (usage, at) =>
      usages.includes(usage) ? [] : [fieldError.notSupported(`${field}[${at}]`, usage, usages)],
    ),
    ...validateEach(given, (usage, at) => {
      if (seen.has(usage)) return [fieldError.duplicate(`${field}[${at}]`, usage)];
      seen.add(usage);
      return [];
    }),
  ];
}

function validateSigner(name: string, field: string): FieldError[] {
  if (name !== legacySigner) return validateSignerName(name, field);
  return [fieldError.invalid(field, name, "the legacy signerName is not allowed via this API version")];
}

function validateExpiration(seconds: number | undefined, field: string): FieldError[] {
  if (seconds === undefined || seconds >= expirationSecondsMin) return [];
  return [fieldError.invalid(field, seconds, "may not specify a duration less than 600 seconds (10 minutes)")];
}

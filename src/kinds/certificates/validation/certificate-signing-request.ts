import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson, type JsonObject } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { certificateRequestProblem } from "./certificate-request.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { isPresent, numberOf, textOf, textsOf } from "../../../api/validation/fields.ts";
import { validateSignerName } from "./signer-name.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

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

/** What is asked for; who decides about it and how has rules of its own. */
export function validateSigningRequest(request: KubeObject, old?: KubeObject): FieldError[] {
  const spec = fieldsOf(request["spec"]);
  if (old !== undefined && equalJson(spec, fieldsOf(old["spec"]))) return [];
  const problem = certificateRequestProblem(Buffer.from(textOf(spec["request"]), "base64").toString("latin1"));
  return [
    ...(problem === undefined ? [] : [fieldError.invalid("spec.request", spec["request"], problem)]),
    ...validateUsages(textsOf(spec["usages"]), "spec.usages"),
    ...validateSigner(textOf(spec["signerName"]), "spec.signerName"),
    ...validateExpiration(spec, "spec.expirationSeconds"),
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

function validateExpiration({ expirationSeconds: seconds }: JsonObject, field: string): FieldError[] {
  if (!isPresent(seconds) || numberOf(seconds) >= expirationSecondsMin) return [];
  return [fieldError.invalid(field, seconds, "may not specify a duration less than 600 seconds (10 minutes)")];
}

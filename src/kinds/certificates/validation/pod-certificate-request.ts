import { constants, createPublicKey, type KeyObject, verify } from "node:crypto";
import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson } from "../../../api/json.ts";
import type { PodCertificateRequest, PodCertificateRequestSpec } from "../../../api/types/certificates-v1beta1.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { validateAnnotations } from "../../../api/validation/labels.ts";
import { dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { parseCertificateRequest } from "./certificate-request.ts";
import { isProjectSigner, validateSignerName } from "./signer-name.ts";

const uidBytesMax = 128;
const keyMaterialBytesMax = 10 * 1024;
const secondsMin = 3600;
const secondsMax = 91 * 86_400;
/** For signers of the project itself. */
const projectSecondsMax = 86_400;
const curves = ["prime256v1", "secp384r1", "secp521r1"];
const modulusBits = [3072, 4096];
const keyMaterial = ["stubPKCS10Request", "pkixPublicKey", "proofOfPossession"] as const;
const knownTypes = ["Issued", "Denied", "Failed"];
const omittedValue = "<value omitted>";

export function validatePodCertificateRequest(
  { spec }: PodCertificateRequest,
  old?: PodCertificateRequest,
): FieldError[] {
  if (old !== undefined && equalJson(spec, old.spec)) return [];
  return [
    ...validateSignerName(spec.signerName ?? "", "spec.signerName"),
    ...validateAnnotations(spec.unverifiedUserAnnotations ?? {}, "spec.unverifiedUserAnnotations"),
    ...(["pod", "serviceAccount", "node"] as const).flatMap((owner) => [
      ...validateOwnerName(spec, `${owner}Name`),
      ...validateOwnerUid(spec, `${owner}UID`),
    ]),
    ...validateExpiration(spec),
  ];
}

export function validatePodCertificateRequestUpdate(
  request: PodCertificateRequest,
  old: PodCertificateRequest,
): FieldError[] {
  return validateImmutable(request.spec, old.spec, "spec");
}

/** A request has at most one outcome. Its status never changes after that. */
export function validatePodCertificateRequestStatus(
  { status: fresh = {} }: PodCertificateRequest,
  old?: PodCertificateRequest,
): FieldError[] {
  const stored = old?.status ?? {};
  const field = "status.conditions";
  let known = 0;
  const errors = (fresh.conditions ?? []).flatMap(({ type = "", status = "" }, at) => {
    if (!knownTypes.includes(type)) {
      return [fieldError.notSupported(`${field}.[${at}].type`, type, knownTypes)];
    }
    known++;
    const text = 'There may be at most one condition with type "Issued", "Denied", or "Failed"';
    return [
      ...(known > 1 ? [fieldError.invalid(`${field}.[${at}].type`, type, text)] : []),
      ...(status === "True" ? [] : [fieldError.notSupported(`${field}.[${at}].status`, status, ["True"])]),
    ];
  });
  if (errors.length > 0 || (stored.conditions ?? []).length === 0) return errors;
  if (equalJson(fresh, stored)) return [];
  const text = "immutable after PodCertificateRequest is issued, denied, or failed";
  return [fieldError.invalid("status", fresh, text)];
}

type Owner = "pod" | "serviceAccount" | "node";

function validateOwnerName(spec: PodCertificateRequestSpec, name: `${Owner}Name`): FieldError[] {
  const value = spec[name] ?? "";
  return dnsSubdomainProblems(value).map((problem) => fieldError.invalid(`spec.${name}`, value, problem));
}

function validateOwnerUid(spec: PodCertificateRequestSpec, name: `${Owner}UID`): FieldError[] {
  const value = spec[name] ?? "";
  if (value === "") return [fieldError.invalid(`spec.${name}`, value, "must not be empty")];
  return Buffer.byteLength(value) > uidBytesMax ? [fieldError.tooLong(`spec.${name}`, uidBytesMax)] : [];
}

function validateExpiration(spec: PodCertificateRequestSpec): FieldError[] {
  const field = "spec.maxExpirationSeconds";
  const seconds = spec.maxExpirationSeconds;
  if (seconds === undefined) return [fieldError.required(field, "must be set")];
  const max = isProjectSigner(spec.signerName) ? projectSecondsMax : secondsMax;
  const isWithin = seconds >= secondsMin && seconds <= max;
  const errors = isWithin ? [] : [fieldError.invalid(field, seconds, `must be in the range [${secondsMin}, ${max}]`)];
  return [...errors, ...validateKey(spec)];
}

/** The node agent proves that it has the key with a request signed by it or, in older versions, with a signed uid. */
function validateKey(spec: PodCertificateRequestSpec): FieldError[] {
  const given = keyMaterial.filter((name) => (spec[name] ?? "") !== "");
  const tooLong = given.filter((name) => bytesOf(spec[name]).byteLength > keyMaterialBytesMax);
  if (tooLong.length > 0) return tooLong.map((name) => fieldError.tooLong(`spec.${name}`, keyMaterialBytesMax));
  switch (given.join()) {
    case "stubPKCS10Request":
      return validateStubRequest(spec.stubPKCS10Request ?? "", "spec.stubPKCS10Request");
    case "pkixPublicKey,proofOfPossession":
      return validateProvenKey(spec);
    default: {
      const text = "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set";
      return [fieldError.invalid("spec", omittedValue, text)];
    }
  }
}

function validateStubRequest(value: string, field: string): FieldError[] {
  const request = parseCertificateRequest(bytesOf(value));
  if (request === undefined) return [fieldError.invalid(field, omittedValue, "must be a valid PKCS#10 CSR")];
  const unfit = validateKeyType(request.key, value, field);
  if (unfit.length > 0 || request.signatureProblem === undefined) return unfit;
  return [fieldError.invalid(field, omittedValue, "must have a valid signature")];
}

function validateProvenKey({ podUID, pkixPublicKey, proofOfPossession }: PodCertificateRequestSpec): FieldError[] {
  const field = "spec.pkixPublicKey";
  const key = publicKeyOf(bytesOf(pkixPublicKey));
  if (key === undefined) {
    return [fieldError.invalid(field, pkixPublicKey, "must be a valid PKIX-serialized public key")];
  }
  const unfit = validateKeyType(key, pkixPublicKey ?? "", field);
  if (unfit.length > 0) return unfit;
  const isProven = isSignedBy(key, Buffer.from(podUID ?? ""), bytesOf(proofOfPossession));
  if (isProven) return [];
  return [fieldError.invalid("spec.proofOfPossession", omittedValue, "could not verify proof-of-possession signature")];
}

function bytesOf(value: string | null): Buffer {
  return Buffer.from(value ?? "", "base64");
}

function publicKeyOf(der: Buffer): KeyObject | undefined {
  try {
    return createPublicKey({ key: der, format: "der", type: "spki" });
  } catch {
    return undefined;
  }
}

function validateKeyType(key: KeyObject, text: string, field: string): FieldError[] {
  const { namedCurve = "", modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  switch (key.asymmetricKeyType) {
    case "ed25519":
      return [];
    case "ec":
      if (curves.includes(namedCurve)) return [];
      return [fieldError.invalid(field, `curve ${namedCurve}`, "elliptic public keys must use curve P256 or P384")];
    case "rsa":
      if (modulusBits.includes(modulusLength)) return [];
      return [
        fieldError.invalid(field, `${modulusLength}-bit modulus`, "RSA keys must have modulus size 3072 or 4096"),
      ];
    default:
      return [fieldError.invalid(field, text, "unknown public key type; supported types are Ed25519, ECDSA, and RSA")];
  }
}

function isSignedBy(key: KeyObject, data: Buffer, signature: Buffer): boolean {
  try {
    if (key.asymmetricKeyType === "ed25519") return verify(null, data, key, signature);
    if (key.asymmetricKeyType === "ec") return verify("sha256", data, key, signature);
    const padding = { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO };
    return verify("sha256", data, padding, signature);
  } catch {
    return false;
  }
}

import { createPublicKey, type KeyObject, constants, verify } from "node:crypto";
import { type FieldError, fieldError } from "../../api/field-error.ts";
import { equalJson, type JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { validateImmutable } from "./immutable.ts";
import { fieldsOf } from "./key-values.ts";
import { validateAnnotations } from "./labels.ts";
import { dnsSubdomainProblems } from "./names.ts";
import { isPresent, numberOf, objectsOf, textOf } from "./pod-fields.ts";
import { isProjectSigner, validateSignerName } from "./signer-name.ts";

const uidBytesMax = 128;
const publicKeyBytesMax = 10 * 1024;
const proofBytesMax = 10 * 1024;
const secondsMin = 3600;
const secondsMax = 91 * 86_400;
/** For signers of the project itself. */
const projectSecondsMax = 86_400;
const curves = ["prime256v1", "secp384r1", "secp521r1"];
const modulusBits = [3072, 4096];
const knownTypes = ["Issued", "Denied", "Failed"];
const keyField = "spec.pkixPublicKey";
const proofText = "could not verify proof-of-possession signature";

export function validatePodCertificateRequest(request: KubeObject, old?: KubeObject): FieldError[] {
  const spec = fieldsOf(request["spec"]);
  if (old !== undefined && equalJson(spec, fieldsOf(old["spec"]))) return [];
  return [
    ...validateSignerName(textOf(spec["signerName"]), "spec.signerName"),
    ...validateAnnotations(
      fieldsOf(spec["unverifiedUserAnnotations"]) as Record<string, string>,
      "spec.unverifiedUserAnnotations",
    ),
    ...["pod", "serviceAccount", "node"].flatMap((owner) => [
      ...validateOwnerName(spec, `${owner}Name`),
      ...validateOwnerUid(spec, `${owner}UID`),
    ]),
    ...validateExpiration(spec),
  ];
}

export function validatePodCertificateRequestUpdate(request: KubeObject, old: KubeObject): FieldError[] {
  return validateImmutable(fieldsOf(request["spec"]), fieldsOf(old["spec"]), "spec");
}

/** One outcome at most, which nothing follows. */
export function validatePodCertificateRequestStatus(request: KubeObject, old?: KubeObject): FieldError[] {
  const [fresh, stored] = [conditionsOf(request), old === undefined ? [] : conditionsOf(old)];
  const field = "status.conditions";
  let known = 0;
  const errors = fresh.flatMap(({ type, status }, at) => {
    if (!knownTypes.includes(textOf(type))) {
      return [fieldError.notSupported(`${field}.[${at}].type`, textOf(type), knownTypes)];
    }
    known++;
    const text = 'There may be at most one condition with type "Issued", "Denied", or "Failed"';
    return [
      ...(known > 1 ? [fieldError.invalid(`${field}.[${at}].type`, type, text)] : []),
      ...(status === "True" ? [] : [fieldError.notSupported(`${field}.[${at}].status`, textOf(status), ["True"])]),
    ];
  });
  if (errors.length > 0 || stored.length === 0 || old === undefined) return errors;
  if (equalJson(fieldsOf(request["status"]), fieldsOf(old["status"]))) return [];
  const text = "immutable after PodCertificateRequest is issued, denied, or failed";
  return [fieldError.invalid("status", fieldsOf(request["status"]), text)];
}

function conditionsOf(request: KubeObject): JsonObject[] {
  return objectsOf(fieldsOf(request["status"])["conditions"]);
}

function validateOwnerName(spec: JsonObject, name: string): FieldError[] {
  const value = textOf(spec[name]);
  return dnsSubdomainProblems(value).map((problem) => fieldError.invalid(`spec.${name}`, value, problem));
}

function validateOwnerUid(spec: JsonObject, name: string): FieldError[] {
  const value = textOf(spec[name]);
  if (value === "") return [fieldError.invalid(`spec.${name}`, value, "must not be empty")];
  return Buffer.byteLength(value) > uidBytesMax ? [fieldError.tooLong(`spec.${name}`, uidBytesMax)] : [];
}

function validateExpiration(spec: JsonObject): FieldError[] {
  const field = "spec.maxExpirationSeconds";
  const seconds = spec["maxExpirationSeconds"];
  if (!isPresent(seconds)) return [fieldError.required(field, "must be set")];
  const max = isProjectSigner(textOf(spec["signerName"])) ? projectSecondsMax : secondsMax;
  const isWithin = numberOf(seconds) >= secondsMin && numberOf(seconds) <= max;
  const errors = isWithin ? [] : [fieldError.invalid(field, seconds, `must be in the range [${secondsMin}, ${max}]`)];
  return [...errors, ...validateKey(spec)];
}

/** The node agent shows that it has the key by signing the pod's uid with it. */
function validateKey(spec: JsonObject): FieldError[] {
  const [der, proof] = ["pkixPublicKey", "proofOfPossession"].map((name) => Buffer.from(textOf(spec[name]), "base64"));
  if (der === undefined || der.byteLength > publicKeyBytesMax) return [fieldError.tooLong(keyField, publicKeyBytesMax)];
  if (proof === undefined || proof.byteLength > proofBytesMax) {
    return [fieldError.tooLong("spec.proofOfPossession", proofBytesMax)];
  }
  const key = publicKeyOf(der);
  if (key === undefined) {
    return [fieldError.invalid(keyField, spec["pkixPublicKey"], "must be a valid PKIX-serialized public key")];
  }
  const unfit = keyProblem(key, textOf(spec["pkixPublicKey"]));
  if (unfit.length > 0) return unfit;
  const isProven = isSignedBy(key, Buffer.from(textOf(spec["podUID"])), proof);
  return isProven ? [] : [fieldError.invalid("spec.proofOfPossession", omittedValue, proofText)];
}

const omittedValue = "<value omitted>";

function publicKeyOf(der: Buffer): KeyObject | undefined {
  try {
    return createPublicKey({ key: der, format: "der", type: "spki" });
  } catch {
    return undefined;
  }
}

function keyProblem(key: KeyObject, text: string): FieldError[] {
  const { namedCurve = "", modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  switch (key.asymmetricKeyType) {
    case "ed25519":
      return [];
    case "ec":
      if (curves.includes(namedCurve)) return [];
      return [fieldError.invalid(keyField, `curve ${namedCurve}`, "elliptic public keys must use curve P256 or P384")];
    case "rsa":
      if (modulusBits.includes(modulusLength)) return [];
      return [
        fieldError.invalid(keyField, `${modulusLength}-bit modulus`, "RSA keys must have modulus size 3072 or 4096"),
      ];
    default:
      return [
        fieldError.invalid(keyField, text, "unknown public key type; supported types are Ed25519, ECDSA, and RSA"),
      ];
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

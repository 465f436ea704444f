import { X509Certificate } from "node:crypto";
import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { type PemBlock, pemBlocks } from "../../../access/certificates/pem.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { objectOf, textOf } from "../../../api/json-reading.ts";
import { fieldErrorsMax } from "../../../api/validation/labels.ts";
import { dnsSubdomainProblems, pathSegmentProblems } from "../../../api/validation/names.ts";
import { validateSignerName } from "./signer-name.ts";

const bundleBytesMax = 1024 * 1024;
const omitted = "<value omitted>";

/** The rest of the name's rule needs the signer, which is in the spec. */
export const trustBundleNameProblems = pathSegmentProblems;

export function validateTrustBundle(bundle: KubeObject, old?: KubeObject): FieldError[] {
  const { signerName, trustBundle } = objectOf(bundle["spec"]);
  const signer = textOf(signerName);
  const isSame = old !== undefined && objectOf(old["spec"])["trustBundle"] === trustBundle;
  return [
    ...validateName(bundle.metadata.name ?? "", signer),
    ...(signer === "" ? [] : validateSignerName(signer, "spec.signerName")),
    ...(isSame ? [] : validateAnchors(textOf(trustBundle), "spec.trustBundle")),
  ];
}

export function validateTrustBundleUpdate(bundle: KubeObject, old: KubeObject): FieldError[] {
  const [fresh, stored] = [objectOf(bundle["spec"]), objectOf(old["spec"])];
  return validateImmutable(textOf(fresh["signerName"]), textOf(stored["signerName"]), "spec.signerName");
}

/** A bundle of a signer is named after it, so that who may write for the signer can be told by the name. */
function validateName(name: string, signer: string): FieldError[] {
  const refuse = (problem: string) => [fieldError.invalid("metadata.name", name, problem)];
  const prefix = signer === "" ? "" : `${signer.replaceAll("/", ":")}:`;
  if (signer === "" && name.includes(":")) {
    return refuse('ClusterTrustBundle without signer name must not have ":" in its name');
  }
  if (!name.startsWith(prefix)) {
    return refuse(`ClusterTrustBundle for signerName ${signer} must be named with prefix ${prefix}`);
  }
  return dnsSubdomainProblems(name.slice(prefix.length)).flatMap(refuse);
}

function validateAnchors(pem: string, field: string): FieldError[] {
  if (Buffer.byteLength(pem) > bundleBytesMax) return [fieldError.tooLong(field, bundleBytesMax)];
  const blocks = pemBlocks(pem);
  const invalid = (problem: string) => fieldError.invalid(field, omitted, problem);
  const errors = blocks
    .map((block) => anchorProblem(block))
    .flatMap((problem, at) => (problem === undefined ? [] : [invalid(`entry ${at} ${problem}`)]));
  if (errors.length > 0) return errors.slice(0, fieldErrorsMax);
  if (blocks.length === 0) return [invalid("at least one trust anchor must be provided")];
  const places = new Map<string, number[]>();
  for (const [at, { der }] of blocks.entries()) {
    const text = der.toString("latin1");
    places.set(text, [...(places.get(text) ?? []), at]);
  }
  return [...places.values()]
    .filter((list) => list.length > 1)
    .map((list) => invalid(`duplicate trust anchor (indices [${list.join(" ")}])`));
}

function anchorProblem({ type, hasHeaders, der }: PemBlock): string | undefined {
  if (type !== "CERTIFICATE") return `has bad block type: ${type}`;
  if (hasHeaders) return "has PEM block headers";
  try {
    return new X509Certificate(der).ca ? undefined : "does not have the CA bit set";
  } catch {
    return "does not parse as X.509";
  }
}

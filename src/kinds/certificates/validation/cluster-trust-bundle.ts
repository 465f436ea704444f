import { X509Certificate } from "node:crypto";
import { type PemBlock, pemBlocks } from "../../../access/certificates/pem.ts";
import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { ClusterTrustBundle } from "../../../api/types/certificates-v1beta1.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { fieldErrorsMax } from "../../../api/validation/labels.ts";
import { dnsSubdomainProblems, pathSegmentProblems } from "../../../api/validation/names.ts";
import { validateSignerName } from "./signer-name.ts";

const bundleBytesMax = 1024 * 1024;
const omitted = "<value omitted>";

/** The other rules of a name depend on the signer in the spec. */
export const trustBundleNameProblems = pathSegmentProblems;

export function validateTrustBundle({ metadata, spec }: ClusterTrustBundle, old?: ClusterTrustBundle): FieldError[] {
  const { signerName: signer = "", trustBundle } = spec;
  const isSame = old !== undefined && old.spec.trustBundle === trustBundle;
  return [
    ...validateName(metadata.name ?? "", signer),
    ...(signer === "" ? [] : validateSignerName(signer, "spec.signerName")),
    ...(isSame ? [] : validateAnchors(trustBundle, "spec.trustBundle")),
  ];
}

export function validateTrustBundleUpdate(bundle: ClusterTrustBundle, old: ClusterTrustBundle): FieldError[] {
  return validateImmutable(bundle.spec.signerName ?? "", old.spec.signerName ?? "", "spec.signerName");
}

/** Checks that a bundle is named after its signer. Permission to write for a signer then follows from the name. */
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

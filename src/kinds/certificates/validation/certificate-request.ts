import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { type DerElement, derElements } from "../../../access/certificates/der-elements.ts";
import { pemBlocks } from "../../../access/certificates/pem.ts";

const blockType = "CERTIFICATE REQUEST";
const sequenceTag = 0x30;
const bitStringTag = 0x03;

/** Signature algorithms by the hex of their object identifier; null for keys that bring their own hash. */
const hashes: ReadonlyMap<string, string | null> = new Map([
  ["2a864886f70d01010b", "sha256"],
  ["2a864886f70d01010c", "sha384"],
  ["2a864886f70d01010d", "sha512"],
  ["2a8648ce3d040302", "sha256"],
  ["2a8648ce3d040303", "sha384"],
  ["2a8648ce3d040304", "sha512"],
  ["2b6570", null],
]);

/** The contents of a PKCS #10 request. */
export interface CertificateRequest {
  readonly key: KeyObject;
  /** Undefined when the key itself has signed the request. */
  readonly signatureProblem: string | undefined;
}

/** Why a PEM with a PKCS #10 request is not accepted; undefined when nothing is wrong with it. */
export function certificateRequestProblem(pem: string): string | undefined {
  const [block] = pemBlocks(pem);
  if (block?.type !== blockType) return `PEM block type must be ${blockType}`;
  const request = parseCertificateRequest(block.der);
  return request === undefined ? "asn1: structure error: malformed certificate request" : request.signatureProblem;
}

/** Returns undefined unless the DER is a PKCS #10 request with a readable key. */
export function parseCertificateRequest(der: Buffer): CertificateRequest | undefined {
  const [request] = derElements(der);
  const [info, algorithm, signature] = derElements(request?.content);
  if (info?.tag !== sequenceTag || algorithm?.tag !== sequenceTag || signature?.tag !== bitStringTag) return undefined;
  const key = publicKeyOf(derElements(info.content)[2]);
  if (key === undefined) return undefined;
  const [identifier] = derElements(algorithm.content);
  const hash = hashes.get(identifier?.content.toString("hex") ?? "");
  if (hash === undefined) {
    return { key, signatureProblem: "x509: cannot verify signature: algorithm unimplemented" };
  }
  const isProven = isSignedBy(key, hash, info.bytes, signature.content.subarray(1));
  return { key, signatureProblem: isProven ? undefined : verificationFailure(key) };
}

function verificationFailure({ asymmetricKeyType }: KeyObject): string {
  if (asymmetricKeyType === "rsa") return "crypto/rsa: verification error";
  return `x509: ${asymmetricKeyType === "ec" ? "ECDSA" : "Ed25519"} verification failure`;
}

function publicKeyOf(element: DerElement | undefined): KeyObject | undefined {
  if (element === undefined) return undefined;
  try {
    return createPublicKey({ key: element.bytes, format: "der", type: "spki" });
  } catch {
    return undefined;
  }
}

function isSignedBy(key: KeyObject, hash: string | null, data: Buffer, signature: Buffer): boolean {
  try {
    return verify(hash, data, key, signature);
  } catch {
    return false;
  }
}

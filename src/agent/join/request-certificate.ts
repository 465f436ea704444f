import { createHash, createPublicKey, X509Certificate } from "node:crypto";
import { createRequest, type KeyPair } from "../../access/certificates/authority.ts";
import { parseCertificateRequest } from "../../access/certificates/certificate-request.ts";
import { StatusError } from "../../api/status.ts";
import type { CertificateSigningRequest } from "../../api/types/certificates-v1.ts";
import type { Client, ResourceType } from "../../client/client.ts";
import { Informer } from "../../client/informer.ts";
import type { Clock } from "../../process/clock.ts";

export const requestType: ResourceType<CertificateSigningRequest> = {
  group: "certificates.k8s.io",
  version: "v1",
  resource: "certificatesigningrequests",
};

/** The names in a node's certificate. */
export interface NodeSubject {
  readonly nodeName: string;
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}

export type NodeSigner = "kubernetes.io/kube-apiserver-client-kubelet" | "kubernetes.io/kubelet-serving";

const usagesOf: Readonly<Record<NodeSigner, readonly string[]>> = {
  "kubernetes.io/kube-apiserver-client-kubelet": ["digital signature", "client auth"],
  "kubernetes.io/kubelet-serving": ["digital signature", "server auth"],
};
const organization = "system:nodes";

export interface CertificateRequestParts {
  readonly client: Pick<Client, "create" | "get" | "list" | "watch">;
  readonly clock: Clock;
  readonly random: () => number;
  /** Receives failures that are followed by another attempt. */
  onError(error: unknown): void;
}

export interface WantedCertificate {
  readonly signer: NodeSigner;
  readonly subject: NodeSubject;
  /** PEM of a key of an earlier attempt, whose request is taken up again; a new key by default. */
  readonly key?: string | undefined;
  /** Time until the attempt is given up. */
  readonly waitMsMax: number;
}

export function nodeUser(nodeName: string): string {
  return `system:node:${nodeName}`;
}

/**
 * Requests a certificate for a node, and waits until it is approved and signed.
 * @throws Error that says why there is none
 */
export async function requestCertificate(
  parts: CertificateRequestParts,
  { signer, subject, key, waitMsMax }: WantedCertificate,
): Promise<KeyPair> {
  const names = { commonName: nodeUser(subject.nodeName), organizations: [organization] };
  const created = createRequest({ ...names, ...subject, key });
  const usages = usagesOf[signer];
  const name = key === undefined ? undefined : digestedName(created.key, names.commonName, usages);
  const request = await submit(parts, {
    kind: "CertificateSigningRequest",
    apiVersion: "certificates.k8s.io/v1",
    metadata: name === undefined ? { generateName: "csr-" } : { name },
    spec: { request: Buffer.from(created.request).toString("base64"), signerName: signer, usages: [...usages] },
  });
  return { certificate: await issued(parts, request, waitMsMax), key: created.key };
}

/** Returns the name by which a request is found again after a restart: a hash of the key and the contents, as upstream's. */
export function digestedName(key: string, commonName: string, usages: readonly string[]): string {
  const hash = createHash("sha512-256");
  const publicKey = createPublicKey(key).export({ type: "spki", format: "der" });
  for (const part of [publicKey, commonName, organization, ...usages]) {
    hash.update(`${Buffer.from(part).toString("base64url")}|`);
  }
  return `node-csr-${hash.digest("base64url")}`;
}

async function submit(
  { client, clock }: CertificateRequestParts,
  wanted: CertificateSigningRequest,
): Promise<CertificateSigningRequest> {
  try {
    return await client.create(requestType, wanted);
  } catch (error) {
    const isTaken = error instanceof StatusError && error.reason === "AlreadyExists";
    if (!isTaken) throw failure(`cannot create certificate signing request: ${(error as Error).message}`, error);
  }
  const existing = await client.get(requestType, { name: wanted.metadata.name ?? "" });
  const problem = incompatibility(existing, wanted, clock.nowMs());
  if (problem !== undefined) throw new Error(`retrieved csr is not compatible: ${problem}`);
  return existing;
}

function incompatibility(
  existing: CertificateSigningRequest,
  wanted: CertificateSigningRequest,
  nowMs: number,
): string | undefined {
  const [old, next] = [existing, wanted].map(({ spec }) =>
    parseCertificateRequest(Buffer.from(spec.request ?? "", "base64").toString("latin1")),
  );
  if (existing.spec.signerName !== wanted.spec.signerName) return "it is for another signer";
  if (old === undefined || next === undefined || !old.publicKeyInfo.equals(next.publicKeyInfo)) {
    return "it is for another key";
  }
  if (!old.subject.equals(next.subject)) return "it is for another subject";
  const certificate = certificateOf(existing);
  const isExpired = certificate !== undefined && new X509Certificate(certificate).validToDate.getTime() <= nowMs;
  return isExpired ? "its certificate has expired" : undefined;
}

/** Waits until the request has a certificate, or never will. */
async function issued(
  { client, clock, random, onError }: CertificateRequestParts,
  { metadata: { name = "", uid } }: CertificateSigningRequest,
  waitMsMax: number,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const look = (found: CertificateSigningRequest) => {
    if (found.metadata.uid !== uid) return reject(new Error(`csr ${JSON.stringify(name)} changed UIDs`));
    const refusal = refusalOf(found);
    if (refusal !== undefined) return reject(new Error(refusal));
    const certificate = certificateOf(found);
    if (certificate !== undefined && hasCondition(found, "Approved")) resolve(certificate);
  };
  using _late = clock.after(waitMsMax, () =>
    reject(new Error(`certificate signing request ${name} was not approved and signed in time`)),
  );
  using _watch = new Informer({
    client,
    type: requestType,
    selector: { fieldSelector: `metadata.name=${name}` },
    clock,
    random,
    onError,
    added: look,
    updated: look,
    deleted: () => reject(new Error(`csr ${JSON.stringify(name)} was deleted`)),
  });
  return await promise;
}

function refusalOf(request: CertificateSigningRequest): string | undefined {
  for (const [type, text] of [
    ["Denied", "is denied"],
    ["Failed", "failed"],
  ] as const) {
    const found = request.status?.conditions?.find((condition) => condition.type === type);
    if (found === undefined) continue;
    return `certificate signing request ${text}, reason: ${found.reason ?? ""}, message: ${found.message ?? ""}`;
  }
  return undefined;
}

function hasCondition({ status }: CertificateSigningRequest, type: string): boolean {
  return (status?.conditions ?? []).some((condition) => condition.type === type);
}

function certificateOf({ status }: CertificateSigningRequest): string | undefined {
  const text = status?.certificate ?? "";
  return text === "" ? undefined : Buffer.from(text, "base64").toString();
}

function failure(message: string, cause: unknown): Error {
  return new Error(message, { cause });
}

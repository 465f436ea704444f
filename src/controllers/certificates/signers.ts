import type { SignedUsage } from "../../access/certificates/authority.ts";
import type { CertificateRequest } from "../../access/certificates/certificate-request.ts";

/** The rules of a built-in signer. */
interface Signer {
  readonly required: readonly SignedUsage[];
  readonly allowed: readonly SignedUsage[];
  /** Returns the reason why it does not sign a request, or undefined if it does. */
  problem(request: CertificateRequest): string | undefined;
}

export const kubeletClientSigner = "kubernetes.io/kube-apiserver-client-kubelet";
const nodesGroup = "system:nodes";
const nodeNamePrefix = "system:node:";

/** Signers that are part of the API, by name. Requests for others wait for external signers. */
export const builtInSigners: ReadonlyMap<string, Signer> = new Map<string, Signer>([
  [
    "kubernetes.io/kube-apiserver-client",
    {
      required: ["client auth"],
      allowed: ["digital signature", "key encipherment", "client auth"],
      problem: () => undefined,
    },
  ],
  [
    kubeletClientSigner,
    {
      required: ["digital signature", "client auth"],
      allowed: ["digital signature", "key encipherment", "client auth"],
      problem: (request) => {
        const { email, dns, uri, ip } = request.nameCounts;
        if (dns > 0) return "DNS subjectAltNames are not allowed";
        if (email > 0) return "Email subjectAltNames are not allowed";
        if (ip > 0) return "IP subjectAltNames are not allowed";
        if (uri > 0) return "URI subjectAltNames are not allowed";
        return nodeSubjectProblem(request);
      },
    },
  ],
  [
    "kubernetes.io/kubelet-serving",
    {
      required: ["digital signature", "server auth"],
      allowed: ["digital signature", "key encipherment", "server auth"],
      problem: (request) => {
        const { email, dns, uri, ip } = request.nameCounts;
        if (dns + ip === 0) return "at least one DNS or IP subjectAltName is required";
        if (email > 0) return "Email subjectAltNames are not allowed";
        if (uri > 0) return "URI subjectAltNames are not allowed";
        return nodeSubjectProblem(request);
      },
    },
  ],
]);

function nodeSubjectProblem({ organizations, commonName = "" }: CertificateRequest): string | undefined {
  if (organizations.length !== 1 || organizations[0] !== nodesGroup) {
    return "subject organization is not system:nodes";
  }
  return commonName.startsWith(nodeNamePrefix) ? undefined : "subject common name does not begin with system:node:";
}

/** Returns the reason why a signer rejects a request, or undefined. */
export function signerProblem(
  signer: Signer,
  request: CertificateRequest,
  usages: readonly string[],
): string | undefined {
  const forbidden = usages.find((usage) => !(signer.allowed as readonly string[]).includes(usage));
  const missing = signer.required.find((usage) => !usages.includes(usage));
  if (forbidden !== undefined || missing !== undefined) return "usages did not match those of the signer";
  return signer.problem(request);
}

import type { SignedUsage } from "../../access/certificates/authority.ts";
import type { CertificateRequest } from "../../access/certificates/certificate-request.ts";

/** Returns the reason why a signer does not sign a request, in kube-controller-manager's words, or undefined if it does. */
type SignerRules = (request: CertificateRequest, usages: readonly string[]) => string | undefined;

export const kubeletClientSigner = "kubernetes.io/kube-apiserver-client-kubelet";
const nodesGroup = "system:nodes";
const nodeNamePrefix = "system:node:";
const noNodesGroup = "subject organization is not system:nodes";
const noNodeName = "subject common name does not begin with system:node:";

/** Signers that are part of the API, by name. Requests for others wait for external signers. */
export const builtInSigners: ReadonlyMap<string, SignerRules> = new Map<string, SignerRules>([
  ["kubernetes.io/kube-apiserver-client", (_, usages) => clientUsagesProblem(usages)],
  [
    kubeletClientSigner,
    (request, usages) => {
      const { email, dns, uri, ip } = request.nameCounts;
      if (!isOfNodes(request)) return noNodesGroup;
      if (dns > 0) return "DNS subjectAltNames are not allowed";
      if (email > 0) return "Email subjectAltNames are not allowed";
      if (ip > 0) return "IP subjectAltNames are not allowed";
      if (uri > 0) return "URI subjectAltNames are not allowed";
      if (!isNamedAsNode(request)) return noNodeName;
      return nodeUsagesProblem(usages, "client auth");
    },
  ],
  [
    "kubernetes.io/kubelet-serving",
    (request, usages) => {
      const { email, dns, uri, ip } = request.nameCounts;
      if (!isOfNodes(request)) return noNodesGroup;
      if (dns + ip === 0) return "DNS or IP subjectAltName is required";
      if (email > 0) return "Email subjectAltNames are not allowed";
      if (uri > 0) return "URI subjectAltNames are not allowed";
      return nodeUsagesProblem(usages, "server auth") ?? (isNamedAsNode(request) ? undefined : noNodeName);
    },
  ],
]);

function isOfNodes({ organizations }: CertificateRequest): boolean {
  return organizations.length === 1 && organizations[0] === nodesGroup;
}

function isNamedAsNode({ commonName = "" }: CertificateRequest): boolean {
  return commonName.startsWith(nodeNamePrefix);
}

/** Keys other than RSA keys are never used for encipherment. */
function nodeUsagesProblem(usages: readonly string[], purpose: SignedUsage): string | undefined {
  const required: readonly string[] = [purpose, "digital signature"];
  const allowed = [...required, "key encipherment"].toSorted();
  const matches = required.every((usage) => usages.includes(usage)) && usages.every((usage) => allowed.includes(usage));
  return matches ? undefined : `usages did not match [${allowed.join(" ")}]`;
}

function clientUsagesProblem(usages: readonly string[]): string | undefined {
  const allowed: readonly string[] = ["digital signature", "key encipherment", "client auth"];
  const other = usages.find((usage) => !allowed.includes(usage));
  if (other !== undefined) return `invalid usage for client certificate: ${other}`;
  return usages.includes("client auth") ? undefined : "missing required usage for client certificate: client auth";
}

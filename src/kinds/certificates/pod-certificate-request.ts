import { pairsText } from "../../api/codec/table/cell-text.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { PodCertificateRequest } from "../../api/types/certificates-v1beta1.ts";
import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import {
  validatePodCertificateRequest,
  validatePodCertificateRequestStatus,
  validatePodCertificateRequestUpdate,
} from "./validation/pod-certificate-request.ts";

const podCertificateRequestStrategy: Strategy<PodCertificateRequest> = {
  ...defaultStrategy,
  metaRules: "update",
  coversSchema: true,
  allowUnconditionalUpdate: false,
  resetFields: ["status"],
  validate: validatePodCertificateRequest,
  validateUpdate: validatePodCertificateRequestUpdate,
};

const podCertificateRequestStatusStrategy: Strategy<PodCertificateRequest> = {
  ...statusStrategy(podCertificateRequestStrategy, { keepsMetadata: true }),
  validate: validatePodCertificateRequestStatus,
};

export const podCertificateRequest = builtInKind("podcertificaterequests.certificates.k8s.io", {
  endpoint: stored(podCertificateRequestStrategy),
  table: { cells: podCertificateRequestCells },
  subresources: {
    status: subresource(podCertificateRequestStatusStrategy),
  },
  descriptions: {
    "certificates/v1beta1.PodCertificateRequest": { "": "Asks for a certificate for a pod." },
    "certificates/v1beta1.PodCertificateRequestSpec": {
      "": "The wanted certificate, and for whom.",
      signerName: "Name of the signer.",
      podName: "Name of the pod.",
      podUID: "UID of the pod.",
      serviceAccountName: "Account of the pod.",
      serviceAccountUID: "UID of the account.",
      nodeName: "Node of the pod.",
      nodeUID: "UID of the node.",
      maxExpirationSeconds: "The longest time that it may be valid.",
      pkixPublicKey: "The public key.",
      proofOfPossession: "A signature that shows that the private key is known.",
      stubPKCS10Request: "A request with the public key and that proof.",
      unverifiedUserAnnotations: "Texts from the pod for the signer. Nobody has checked them.",
    },
    "certificates/v1beta1.PodCertificateRequestStatus": {
      "": "The decision and the certificate.",
      certificateChain: "The certificate and those that lead to its authority, in PEM.",
      notBefore: "When it begins.",
      beginRefreshAt: "When to ask for the next one.",
      notAfter: "When it ends.",
    },
  },
});

function podCertificateRequestCells({ spec, status }: PodCertificateRequest): Cells {
  const types = new Set(status?.conditions?.map(({ type }) => type));
  return {
    PodName: spec.podName,
    ServiceAccountName: spec.serviceAccountName,
    NodeName: spec.nodeName,
    SignerName: spec.signerName,
    State: ["Issued", "Denied", "Failed"].find((type) => types.has(type)) ?? "Pending",
    UnverifiedUserAnnotations: pairsText(spec.unverifiedUserAnnotations),
  };
}

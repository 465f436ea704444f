import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import {
  validatePodCertificateRequest,
  validatePodCertificateRequestStatus,
  validatePodCertificateRequestUpdate,
} from "./validation/pod-certificate-request.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";

const podCertificateRequestStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  allowUnconditionalUpdate: false,
  resetFields: ["status"],
  validate: validatePodCertificateRequest,
  validateUpdate: validatePodCertificateRequestUpdate,
};

const podCertificateRequestStatusStrategy: Strategy = {
  ...statusStrategy(podCertificateRequestStrategy),
  validate: validatePodCertificateRequestStatus,
};

export const podCertificateRequest = builtInKind("podcertificaterequests.certificates.k8s.io", {
  endpoint: stored(podCertificateRequestStrategy),
  subresources: {
    status: subresource(podCertificateRequestStatusStrategy),
  },
});

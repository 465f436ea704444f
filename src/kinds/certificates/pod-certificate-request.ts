import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import {
  validatePodCertificateRequest,
  validatePodCertificateRequestStatus,
  validatePodCertificateRequestUpdate,
} from "../validation/pod-certificate-request.ts";

export const podCertificateRequestStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  allowUnconditionalUpdate: false,
  resetFields: ["status"],
  validate: validatePodCertificateRequest,
  validateUpdate: validatePodCertificateRequestUpdate,
};

export const podCertificateRequestStatusStrategy: Strategy = {
  ...statusStrategy(podCertificateRequestStrategy),
  validate: validatePodCertificateRequestStatus,
};

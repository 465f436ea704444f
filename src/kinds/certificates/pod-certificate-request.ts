import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import {
  validatePodCertificateRequest,
  validatePodCertificateRequestStatus,
  validatePodCertificateRequestUpdate,
} from "./validation/pod-certificate-request.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import { pairsText, structIn, textIn } from "../../api/codec/table/reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";
import { conditionTypes } from "./condition-types.ts";

const podCertificateRequestStrategy: Strategy = {
  ...defaultStrategy,
  metaRules: "update",
  coversSchema: true,
  allowUnconditionalUpdate: false,
  resetFields: ["status"],
  validate: validatePodCertificateRequest,
  validateUpdate: validatePodCertificateRequestUpdate,
};

const podCertificateRequestStatusStrategy: Strategy = {
  ...statusStrategy(podCertificateRequestStrategy, { keepsMetadata: true }),
  validate: validatePodCertificateRequestStatus,
};

export const podCertificateRequest = builtInKind("podcertificaterequests.certificates.k8s.io", {
  endpoint: stored(podCertificateRequestStrategy),
  table: { cells: podCertificateRequestCells },
  subresources: {
    status: subresource(podCertificateRequestStatusStrategy),
  },
});

function podCertificateRequestCells(request: JsonObject): Cells {
  const spec = structIn(request, "spec");
  const types = conditionTypes(structIn(request, "status"));
  return {
    PodName: textIn(spec, "podName"),
    ServiceAccountName: textIn(spec, "serviceAccountName"),
    NodeName: textIn(spec, "nodeName"),
    SignerName: textIn(spec, "signerName"),
    State: ["Issued", "Denied", "Failed"].find((type) => types.has(type)) ?? "Pending",
    UnverifiedUserAnnotations: pairsText(spec["unverifiedUserAnnotations"]),
  };
}

import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { APIService } from "../../api/types/apiregistration-v1.ts";
import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { availableCondition, locallyAvailable, withAvailability } from "./available-condition.ts";
import { apiServiceNameProblems, validateApiService, validateApiServiceStatus } from "./validation/api-service.ts";

const apiServiceStrategy: Strategy<APIService> = {
  ...defaultStrategy,
  coversSchema: true,
  allowsBareFinalizers: true,
  allowUnconditionalUpdate: false,
  resetFields: ["status"],
  validateName: apiServiceNameProblems,
  prepareForCreate(service) {
    if (service.spec?.service !== undefined) return;
    const { status } = withAvailability(service, locallyAvailable, service.metadata.creationTimestamp ?? "");
    if (status !== undefined) service.status = status;
  },
  validate: validateApiService,
};

const apiServiceStatusStrategy: Strategy<APIService> = {
  ...statusStrategy(apiServiceStrategy, { keepsMetadata: true }),
  validate: validateApiServiceStatus,
};

export const apiService = builtInKind("apiservices.apiregistration.k8s.io", {
  endpoint: stored(apiServiceStrategy),
  table: { cells: apiServiceCells },
  subresources: {
    status: subresource(apiServiceStatusStrategy),
  },
  descriptions: {
    "apiregistration/v1.APIService": { "": "A group version, and who serves it; its name is <version>.<group>." },
    "apiregistration/v1.APIServiceSpec": {
      "": "A group version and the address that serves it.",
      service: "The service that serves it; none for the server itself.",
      group: "The API group.",
      version: "The version.",
      insecureSkipTLSVerify: "Whether the certificate of the service is not checked.",
      caBundle: "Authorities of the certificate of the service, PEM in base64.",
      groupPriorityMinimum: "Rank of the group; the higher, the earlier.",
      versionPriority: "Rank of the version in its group; the higher, the earlier.",
    },
    "apiregistration/v1.APIServiceStatus": { "": "Whether it can be reached." },
  },
});

function apiServiceCells(apiService: APIService): Cells {
  const service = apiService.spec?.service;
  return {
    Service: service === undefined ? "Local" : `${service.namespace ?? ""}/${service.name ?? ""}`,
    Available: availableText(apiService),
  };
}

function availableText(service: APIService): string {
  const available = availableCondition(service);
  if (available === undefined) return "Unknown";
  return available.status === "True" ? "True" : `${available.status} (${available.reason ?? ""})`;
}

import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { apiServiceNameProblems, validateApiService, validateApiServiceStatus } from "./validation/api-service.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import { objectOf, objectsOf, textOf } from "../../api/json-reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";
import type { APIService } from "../../api/types/apiregistration-v1.ts";

const apiServiceStrategy: Strategy<APIService> = {
  ...defaultStrategy,
  coversSchema: true,
  allowsBareFinalizers: true,
  allowUnconditionalUpdate: false,
  resetFields: ["status"],
  validateName: apiServiceNameProblems,
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

function apiServiceCells(apiService: JsonObject): Cells {
  const spec = objectOf(apiService["spec"]);
  const service = objectOf(spec["service"]);
  const local = spec["service"] === undefined;
  return {
    Service: local ? "Local" : `${textOf(service["namespace"])}/${textOf(service["name"])}`,
    Available: availableText(objectOf(apiService["status"])),
  };
}

function availableText(status: JsonObject): string {
  const available = objectsOf(status["conditions"]).find(({ type }) => type === "Available");
  if (available === undefined) return "Unknown";
  const text = textOf(available["status"]);
  return text === "True" ? text : `${text} (${textOf(available["reason"])})`;
}

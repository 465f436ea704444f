import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateApiService, validateApiServiceStatus } from "./validation/api-service.ts";
import { pathSegmentProblems } from "../../api/validation/names.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";

const apiServiceStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  allowsBareFinalizers: true,
  allowUnconditionalUpdate: false,
  resetFields: ["status"],
  validateName: pathSegmentProblems,
  validate: validateApiService,
};

const apiServiceStatusStrategy: Strategy = {
  ...statusStrategy(apiServiceStrategy),
  validate: validateApiServiceStatus,
};

export const apiService = builtInKind("apiservices.apiregistration.k8s.io", {
  endpoint: stored(apiServiceStrategy),
  subresources: {
    status: subresource(apiServiceStatusStrategy),
  },
});

import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateApiService, validateApiServiceStatus } from "../validation/api-service.ts";
import { pathSegmentProblems } from "../../api/validation/names.ts";

export const apiServiceStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  allowsBareFinalizers: true,
  allowUnconditionalUpdate: false,
  resetFields: ["status"],
  validateName: pathSegmentProblems,
  validate: validateApiService,
};

export const apiServiceStatusStrategy: Strategy = {
  ...statusStrategy(apiServiceStrategy),
  validate: validateApiServiceStatus,
};

import { defaultStrategy, statusStrategy } from "../../default-strategy.ts";
import type { Strategy } from "../../strategy.ts";
import { validateApiService, validateApiServiceStatus } from "../../validation/api-service.ts";
import { pathSegmentProblems } from "../../validation/names.ts";

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

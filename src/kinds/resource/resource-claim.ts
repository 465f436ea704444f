import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import {
  validateResourceClaim,
  validateResourceClaimTemplate,
  validateResourceClaimUpdate,
} from "../validation/resource-claim.ts";
import { validateResourceClaimStatus } from "../validation/resource-claim-status.ts";

export const resourceClaimStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  resetFields: ["status"],
  validate: validateResourceClaim,
  validateUpdate: validateResourceClaimUpdate,
};

export const resourceClaimStatusStrategy: Strategy = {
  ...statusStrategy(resourceClaimStrategy),
  validate: validateResourceClaimStatus,
};

export const resourceClaimTemplateStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  validate: validateResourceClaimTemplate,
  validateUpdate: validateResourceClaimUpdate,
};

import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import {
  validateResourceQuota,
  validateResourceQuotaStatus,
  validateResourceQuotaUpdate,
} from "../validation/resource-quota.ts";
import { statusRules } from "../spec-strategy.ts";

export const resourceQuotaStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  returnsDeletedObject: true,
  resetFields: ["status"],
  validate: validateResourceQuota,
  validateUpdate: validateResourceQuotaUpdate,
};

export const resourceQuotaStatusStrategy = statusRules(resourceQuotaStrategy, validateResourceQuotaStatus);

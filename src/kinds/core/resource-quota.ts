import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import {
  validateResourceQuota,
  validateResourceQuotaStatus,
  validateResourceQuotaUpdate,
} from "./validation/resource-quota.ts";
import { statusRules } from "../spec-strategy.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";

const resourceQuotaStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  returnsDeletedObject: true,
  resetFields: ["status"],
  validate: validateResourceQuota,
  validateUpdate: validateResourceQuotaUpdate,
};

const resourceQuotaStatusStrategy = statusRules(resourceQuotaStrategy, validateResourceQuotaStatus);

export const resourceQuota = builtInKind("resourcequotas", {
  endpoint: stored(resourceQuotaStrategy),
  subresources: {
    status: subresource(resourceQuotaStatusStrategy),
  },
});

import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import {
  validatePoolStatus,
  validatePoolStatusRequest,
  validatePoolStatusRequestUpdate,
} from "../validation/resource-pool-status-request.ts";

export const resourcePoolStatusRequestStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  resetFields: ["status"],
  validate: validatePoolStatusRequest,
  validateUpdate: validatePoolStatusRequestUpdate,
};

export const resourcePoolStatusRequestStatusStrategy: Strategy = {
  ...statusStrategy(resourcePoolStatusRequestStrategy),
  validate: validatePoolStatus,
};

import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import {
  validatePoolStatus,
  validatePoolStatusRequest,
  validatePoolStatusRequestUpdate,
} from "./validation/resource-pool-status-request.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";

const resourcePoolStatusRequestStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  resetFields: ["status"],
  validate: validatePoolStatusRequest,
  validateUpdate: validatePoolStatusRequestUpdate,
};

const resourcePoolStatusRequestStatusStrategy: Strategy = {
  ...statusStrategy(resourcePoolStatusRequestStrategy),
  validate: validatePoolStatus,
};

export const resourcePoolStatusRequest = builtInKind("resourcepoolstatusrequests.resource.k8s.io", {
  endpoint: stored(resourcePoolStatusRequestStrategy),
  subresources: {
    status: subresource(resourcePoolStatusRequestStatusStrategy),
  },
});

import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateResourceClaim, validateResourceClaimUpdate } from "./validation/resource-claim.ts";
import { validateResourceClaimStatus } from "./validation/resource-claim-status.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";

const resourceClaimStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  resetFields: ["status"],
  validate: validateResourceClaim,
  validateUpdate: validateResourceClaimUpdate,
};

const resourceClaimStatusStrategy: Strategy = {
  ...statusStrategy(resourceClaimStrategy),
  validate: validateResourceClaimStatus,
};

export const resourceClaim = builtInKind("resourceclaims.resource.k8s.io", {
  endpoint: stored(resourceClaimStrategy),
  subresources: {
    status: subresource(resourceClaimStatusStrategy),
  },
});

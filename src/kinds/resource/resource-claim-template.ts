import { defaultStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import { validateResourceClaimTemplate, validateResourceClaimUpdate } from "./validation/resource-claim.ts";

export const resourceClaimTemplate = builtInKind("resourceclaimtemplates.resource.k8s.io", {
  endpoint: stored({
    ...defaultStrategy,
    coversSchema: true,
    validate: validateResourceClaimTemplate,
    validateUpdate: validateResourceClaimUpdate,
  }),
});

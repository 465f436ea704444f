import { defaultStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import { validateResourceClaimTemplate, validateResourceClaimUpdate } from "./validation/resource-claim.ts";
import { resourceClaimTemplateConversion } from "./conversion.ts";

export const resourceClaimTemplate = builtInKind("resourceclaimtemplates.resource.k8s.io", {
  endpoint: stored({
    ...defaultStrategy,
    coversSchema: true,
    validate: validateResourceClaimTemplate,
    validateUpdate: validateResourceClaimUpdate,
  }),
  conversions: { v1beta1: () => resourceClaimTemplateConversion },
});

import { defaultStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import { resourceClaimTemplateConversion } from "./conversion.ts";
import { validateResourceClaimTemplate, validateResourceClaimTemplateUpdate } from "./validation/resource-claim.ts";

export const resourceClaimTemplate = builtInKind("resourceclaimtemplates.resource.k8s.io", {
  endpoint: stored({
    ...defaultStrategy,
    coversSchema: true,
    returnsDeletedObject: true,
    validateInTurns: validateResourceClaimTemplate,
    validateUpdate: validateResourceClaimTemplateUpdate,
  }),
  conversions: { v1beta1: () => resourceClaimTemplateConversion },
  descriptions: {
    "resource/v1.ResourceClaimTemplate": { "": "A claim for each pod from it." },
    "resource/v1.ResourceClaimTemplateSpec": { "": "Metadata and spec of the claims." },
  },
});

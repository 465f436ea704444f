import type { Cells } from "../../api/codec/table/table-rules.ts";
import type * as networkingV1 from "../../api/types/networking-v1.ts";
import { defaultStrategy, forNewObjects, statusStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateServiceCidr, validateServiceCidrUpdate } from "./validation/service-cidr.ts";

const serviceCidrStrategy: Strategy<networkingV1.ServiceCIDR> = {
  ...defaultStrategy,
  metaRules: "update",
  coversSchema: true,
  resetFields: ["status"],
  validate: forNewObjects(validateServiceCidr),
  validateUpdate: validateServiceCidrUpdate,
};

export const serviceCidr = builtInKind("servicecidrs.networking.k8s.io", {
  endpoint: stored(serviceCidrStrategy),
  table: { cells: serviceCidrCells },
  subresources: {
    status: subresource(statusStrategy(serviceCidrStrategy, { keepsMetadata: true })),
  },
  descriptions: {
    "networking/v1.ServiceCIDR": { "": "Ranges of addresses for services." },
    "networking/v1.ServiceCIDRSpec": { "": "The ranges.", cidrs: "One range per family." },
    "networking/v1.ServiceCIDRStatus": { "": "The observed state of the ranges." },
  },
});

function serviceCidrCells({ spec }: networkingV1.ServiceCIDR): Cells {
  return { CIDRs: (spec?.cidrs ?? []).join(",") };
}

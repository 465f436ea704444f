import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateServiceCidr, validateServiceCidrUpdate } from "./validation/service-cidr.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";

const serviceCidrStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  resetFields: ["status"],
  validate: validateServiceCidr,
  validateUpdate: validateServiceCidrUpdate,
};

export const serviceCidr = builtInKind("servicecidrs.networking.k8s.io", {
  endpoint: stored(serviceCidrStrategy),
  subresources: {
    status: subresource(statusStrategy(serviceCidrStrategy)),
  },
});

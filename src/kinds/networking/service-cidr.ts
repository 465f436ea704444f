import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateServiceCidr, validateServiceCidrUpdate } from "../validation/service-cidr.ts";

export const serviceCidrStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  resetFields: ["status"],
  validate: validateServiceCidr,
  validateUpdate: validateServiceCidrUpdate,
};

import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { dnsLabel1035Problems } from "../../api/validation/names.ts";
import { validateService, validateServiceStatus } from "../validation/service.ts";
import { validateServiceUpdate } from "../validation/service-update.ts";

export const serviceStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  allowCreateOnUpdate: true,
  returnsDeletedObject: true,
  resetFields: ["status"],
  validateName: dnsLabel1035Problems,
  prepareForCreate(service) {
    service["status"] = { loadBalancer: {} };
  },
  validate: validateService,
  validateUpdate: validateServiceUpdate,
};

export const serviceStatusStrategy: Strategy = {
  ...statusStrategy(serviceStrategy),
  // Upstream forgets to take this from the rules of the service.
  allowCreateOnUpdate: true,
  validate: validateServiceStatus,
};

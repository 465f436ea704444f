import { defaultStrategy, statusStrategy } from "../../default-strategy.ts";
import type { Strategy } from "../../strategy.ts";
import { dnsLabel1035Problems } from "../../validation/names.ts";
import { validateService, validateServiceStatus } from "../../validation/service.ts";
import { validateServiceUpdate } from "../../validation/service-update.ts";

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
  validate: validateServiceStatus,
};

import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { dnsLabel1035Problems } from "../../api/validation/names.ts";
import { validateService, validateServiceStatus } from "./validation/service.ts";
import { validateServiceUpdate } from "./validation/service-update.ts";
import { builtInKind, connection, stored, subresource } from "../../registry/kind.ts";
import { serviceCells } from "./service-cells.ts";
import { defaultService } from "./defaults/service.ts";

const serviceStrategy: Strategy = {
  ...defaultStrategy,
  metaRules: "update",
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

const serviceStatusStrategy: Strategy = {
  ...statusStrategy(serviceStrategy),
  // Upstream forgets to take this from the rules of the service.
  allowCreateOnUpdate: true,
  validate: validateServiceStatus,
};

export const service = builtInKind("services", {
  endpoint: stored(serviceStrategy),
  table: { cells: serviceCells },
  defaults: {
    "core/v1.Service": defaultService,
  },
  subresources: {
    proxy: connection("serviceProxy"),
    status: subresource(serviceStatusStrategy),
  },
});

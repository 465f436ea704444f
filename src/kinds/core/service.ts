import { serviceDescriptions } from "./service-descriptions.ts";
import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Service } from "../../api/types/core-v1.ts";
import { warnAboutIp } from "../../api/validation/strict-ip.ts";
import { serviceWarnings } from "./service-warnings.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { dnsLabelProblems } from "../../api/validation/names.ts";
import { validateService, validateServiceStatus } from "./validation/service.ts";
import { validateServiceUpdate } from "./validation/service-update.ts";
import { builtInKind, connection, stored, subresource } from "../../registry/kind.ts";
import { serviceCells } from "./service-cells.ts";
import { defaultService } from "./defaults/service.ts";

const serviceStrategy: Strategy<Service> = {
  ...defaultStrategy,
  metaRules: "update",
  coversSchema: true,
  allowCreateOnUpdate: true,
  returnsDeletedObject: true,
  resetFields: ["status"],
  validateName: dnsLabelProblems,
  prepareForCreate(service) {
    service.status = { loadBalancer: {} };
  },
  validate: (service, old) => validateService(service, old),
  validateUpdate: validateServiceUpdate,
  warnings: serviceWarnings,
};

const serviceStatusStrategy: Strategy<Service> = {
  ...statusStrategy(serviceStrategy),
  // Upstream forgets to take this from the rules of the service.
  allowCreateOnUpdate: true,
  validate: validateServiceStatus,
  warnings: ({ status = {} }) =>
    (status.loadBalancer?.ingress ?? []).flatMap(({ ip = "" }, at) =>
      ip === "" ? [] : warnAboutIp(ip, `status.loadBalancer.ingress[${at}].ip`),
    ),
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
  descriptions: serviceDescriptions,
});

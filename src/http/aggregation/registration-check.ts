import type { ServedApis } from "../../kinds/apiregistration/api-services.ts";
import { groupVersionOfName } from "../../kinds/apiregistration/automatic-api-service.ts";
import { type HealthCheck, healthEndpoints } from "../health.ts";

/**
 * Fails until each of these APIServices was available once. Later changes are the administrator's decision.
 * @param names `<version>.<group>`
 */
export function registrationCheck(names: readonly string[], apis: ServedApis): HealthCheck {
  const missing = new Set(names);
  const look = () => {
    for (const name of missing) {
      const { group, version } = groupVersionOfName(name);
      if (apis.find(group, version)?.isAvailable === true) missing.delete(name);
    }
  };
  const check = () => {
    look();
    if (missing.size > 0) throw new Error(`missing APIService: [${[...missing].sort().join(" ")}]`);
  };
  // Usually all exist at the start. One that is removed later does not matter.
  look();
  return { name: "autoregister-completion", endpoints: healthEndpoints, startup: true, check };
}

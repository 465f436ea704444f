import type { GroupVersion } from "../../api/gvk.ts";
import type { ServedApis } from "../../kinds/apiregistration/api-services.ts";
import { apiServiceNameOf } from "../../kinds/apiregistration/automatic-api-service.ts";
import { type HealthCheck, healthEndpoints } from "../health.ts";

/**
 * Fails until the APIService of each of these group versions was available once. Later changes are the administrator's
 * decision.
 */
export function registrationCheck(versions: readonly GroupVersion[], apis: ServedApis): HealthCheck {
  const missing = new Set(versions);
  const look = () => {
    for (const each of missing) if (apis.find(each.group, each.version)?.isAvailable === true) missing.delete(each);
  };
  const check = () => {
    look();
    if (missing.size === 0) return;
    throw new Error(`missing APIService: [${Array.from(missing, apiServiceNameOf).sort().join(" ")}]`);
  };
  // Usually all exist at the start. One that is removed later does not matter.
  look();
  return { name: "autoregister-completion", endpoints: healthEndpoints, startup: true, check };
}

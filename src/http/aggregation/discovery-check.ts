import { type HealthCheck, healthEndpoints } from "../health.ts";
import type { RemoteDiscovery } from "./remote-discovery.ts";

/**
 * Fails until every extension server was asked once, because clients would otherwise consider its resources unknown. It
 * has upstream's name.
 */
export function discoveryCheck(discovery: Pick<RemoteDiscovery, "isSynced">): HealthCheck {
  const check = () => {
    if (!discovery.isSynced) throw new Error("not finished");
  };
  return { name: "poststarthook/apiservice-discovery-controller", endpoints: healthEndpoints, startup: true, check };
}

import type { LoadBalancerStatus } from "../../api/types/core-v1.ts";
import type { IngressLoadBalancerStatus } from "../../api/types/networking-v1.ts";

/** Returns the IPs, or else host names, of a load balancer, in order. */
export function loadBalancerTexts(status: LoadBalancerStatus | IngressLoadBalancerStatus | undefined): string[] {
  const texts = (status?.ingress ?? []).map(({ ip = "", hostname = "" }) => ip || hostname);
  return [...new Set(texts.filter((text) => text !== ""))].sort();
}

import type { ServiceSpec } from "../../api/types/core-v1.ts";

export const noClusterIp = "None";

export function serviceType({ type }: ServiceSpec): string {
  return type === undefined || type === "" ? "ClusterIP" : type;
}

/** Every type but ExternalName has addresses, unless it is headless. */
export function needsClusterIp(spec: ServiceSpec): boolean {
  return serviceType(spec) !== "ExternalName";
}

export function isHeadless({ clusterIP, clusterIPs }: ServiceSpec): boolean {
  return (clusterIPs?.[0] ?? clusterIP) === noClusterIp;
}

export function needsNodePort(spec: ServiceSpec): boolean {
  const type = serviceType(spec);
  return type === "NodePort" || type === "LoadBalancer";
}

/** Ports are given out unasked for NodePort, and for LoadBalancer unless the client has switched that off. */
export function allocatesNodePorts(spec: ServiceSpec): boolean {
  const type = serviceType(spec);
  return type === "NodePort" || (type === "LoadBalancer" && spec.allocateLoadBalancerNodePorts !== false);
}

/** Reports whether nodes must tell a load balancer whether they have endpoints, because only such nodes may answer. */
export function needsHealthCheckPort(spec: ServiceSpec): boolean {
  return serviceType(spec) === "LoadBalancer" && spec.externalTrafficPolicy === "Local";
}

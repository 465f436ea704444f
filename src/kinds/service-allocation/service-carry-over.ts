import type { ServiceSpec } from "../../api/types/core-v1.ts";
import { needsClusterIp, needsHealthCheckPort, needsNodePort, serviceType } from "./service.ts";

/** `clusterIP` is the older spelling of `clusterIPs[0]`: a client that knows one of the two means both. */
export function alignClusterIps(spec: ServiceSpec, old: ServiceSpec | undefined): void {
  const { clusterIP = "", clusterIPs = [] } = spec;
  if (old === undefined) {
    if (clusterIP !== "" && clusterIPs.length === 0) spec.clusterIPs = [clusterIP];
    return;
  }
  const listUntouched = String(clusterIPs) === String(old.clusterIPs ?? []);
  if (clusterIP === (old.clusterIP ?? "")) return;
  if (!listUntouched) return;
  if (clusterIP === "") delete spec.clusterIPs;
  else spec.clusterIPs = [clusterIP];
}

/** A PUT that leaves out what the server has given keeps it. */
export function keepAllocated(spec: ServiceSpec, old: ServiceSpec): void {
  if (needsClusterIp(old) && needsClusterIp(spec)) keepClusterIps(spec, old);
  if (needsNodePort(old) && needsNodePort(spec)) keepNodePorts(spec, old);
  if (needsHealthCheckPort(old) && needsHealthCheckPort(spec) && (spec.healthCheckNodePort ?? 0) === 0) {
    setPort(spec, old.healthCheckNodePort);
  }
}

function keepClusterIps(spec: ServiceSpec, old: ServiceSpec): void {
  const { clusterIP, clusterIPs } = old;
  if ((spec.clusterIP ?? "") === "" && clusterIP !== undefined) spec.clusterIP = clusterIP;
  if ((spec.clusterIPs ?? []).length === 0 && clusterIPs !== undefined) {
    spec.clusterIPs = [...clusterIPs];
  }
}

/** Ports are recognised by name; one that another port has taken over meanwhile is not given twice. */
function keepNodePorts(spec: ServiceSpec, old: ServiceSpec): void {
  const ports = spec.ports ?? [];
  const used = new Set(ports.map(({ nodePort = 0 }) => nodePort));
  const byName = new Map((old.ports ?? []).map(({ name = "", nodePort = 0 }) => [name, nodePort]));
  for (const port of ports) {
    const before = byName.get(port.name ?? "") ?? 0;
    if ((port.nodePort ?? 0) !== 0 || before === 0 || used.has(before)) continue;
    port.nodePort = before;
    used.add(before);
  }
}

/**
 * A Service that changes its type leaves behind what only the old type had, where the client has not changed the field
 * itself: otherwise `kubectl patch` of the type alone could never be valid.
 */
export function dropFieldsOfOldType(spec: ServiceSpec, old: ServiceSpec): void {
  if (needsClusterIp(old) && !needsClusterIp(spec)) dropAddresses(spec, old);
  if (needsNodePort(old) && !needsNodePort(spec)) dropNodePorts(spec, old);
  if (needsHealthCheckPort(old) && !needsHealthCheckPort(spec)) dropIfSame(spec, old, "healthCheckNodePort");
  if (isReachable(old) && !isReachable(spec)) {
    dropIfSame(spec, old, "externalTrafficPolicy");
  }
  if (old.type === "LoadBalancer" && spec.type !== "LoadBalancer") {
    dropIfSame(spec, old, "allocateLoadBalancerNodePorts");
    dropIfSame(spec, old, "loadBalancerClass");
  }
}

/** From outside of the cluster. */
function isReachable(spec: ServiceSpec): boolean {
  return needsNodePort(spec) || (serviceType(spec) === "ClusterIP" && (spec.externalIPs ?? []).length > 0);
}

function dropAddresses(spec: ServiceSpec, old: ServiceSpec): void {
  for (const field of ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] as const)
    dropIfSame(spec, old, field);
}

function dropNodePorts(spec: ServiceSpec, old: ServiceSpec): void {
  const before = old.ports ?? [];
  for (const port of spec.ports ?? []) {
    const same = before.some(({ nodePort, protocol }) => nodePort === port.nodePort && protocol === port.protocol);
    if (same) delete port.nodePort;
  }
}

function dropIfSame(spec: ServiceSpec, old: ServiceSpec, field: keyof ServiceSpec): void {
  if (String(spec[field]) === String(old[field])) delete spec[field];
}

function setPort(spec: ServiceSpec, port: number | undefined): void {
  if (port !== undefined) spec.healthCheckNodePort = port;
}

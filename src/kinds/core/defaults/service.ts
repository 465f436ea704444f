import { emptyJsonObject, isJsonObject, type JsonObject } from "../../../api/json.ts";
import { objectsOf } from "../../../api/json-reading.ts";

const affinitySeconds = 10_800;

/** Addresses and node ports are not defaults: they are given out when the Service is written. */
export function defaultService(service: JsonObject): void {
  const spec = service["spec"];
  if (!isJsonObject(spec)) return;
  spec["sessionAffinity"] ||= "None";
  spec["type"] ||= "ClusterIP";
  defaultAffinity(spec);
  for (const port of objectsOf(spec["ports"])) defaultPort(port);
  const isBalancer = spec["type"] === "LoadBalancer";
  if (isReachable(spec)) spec["externalTrafficPolicy"] ||= "Cluster";
  if (spec["type"] !== "ExternalName") spec["internalTrafficPolicy"] ??= "Cluster";
  if (!isBalancer) return;
  spec["allocateLoadBalancerNodePorts"] ??= true;
  const status = service["status"];
  if (isJsonObject(status)) defaultIngressPoints(status);
}

function defaultAffinity(spec: JsonObject): void {
  if (spec["sessionAffinity"] === "None") delete spec["sessionAffinityConfig"];
  if (spec["sessionAffinity"] !== "ClientIP") return;
  const config = isJsonObject(spec["sessionAffinityConfig"]) ? spec["sessionAffinityConfig"] : emptyJsonObject();
  const clientIp = isJsonObject(config["clientIP"]) ? config["clientIP"] : emptyJsonObject();
  clientIp["timeoutSeconds"] ??= affinitySeconds;
  config["clientIP"] = clientIp;
  spec["sessionAffinityConfig"] = config;
}

function defaultPort(port: JsonObject): void {
  port["protocol"] ||= "TCP";
  const target = port["targetPort"];
  if (port["port"] !== undefined && (target === undefined || target === null || target === 0 || target === "")) {
    port["targetPort"] = port["port"];
  }
}

function isReachable(spec: JsonObject): boolean {
  const { type, externalIPs } = spec;
  if (type === "NodePort" || type === "LoadBalancer") return true;
  return type === "ClusterIP" && Array.isArray(externalIPs) && externalIPs.length > 0;
}

function defaultIngressPoints(status: JsonObject): void {
  const balancer = status["loadBalancer"];
  if (!isJsonObject(balancer)) return;
  for (const point of objectsOf(balancer["ingress"])) {
    if ((point["ip"] ?? "") !== "") point["ipMode"] ??= "VIP";
  }
}

import type { JsonObject } from "../../json.ts";
import type { Cells } from "./cells.ts";
import { firstFew, numberIn, pairsText, structIn, structsIn, textIn, textsIn } from "./reading.ts";

/** Ports and addresses shown before the rest is only counted. */
const shownMax = 3;

export function serviceCells(service: JsonObject): Cells {
  const spec = structIn(service, "spec");
  return {
    Type: textIn(spec, "type"),
    "Cluster-IP": textsIn(spec, "clusterIPs")[0] ?? "<none>",
    "External-IP": externalText(spec, structIn(service, "status")),
    "Port(s)": structsIn(spec, "ports").map(portText).join(",") || "<none>",
    Selector: pairsText(spec["selector"]),
  };
}

export function endpointsCells(endpoints: JsonObject): Cells {
  const subsets = structsIn(endpoints, "subsets");
  if (subsets.length === 0) return { Endpoints: "<none>" };
  const count = subsets.reduce((sum, subset) => sum + endpointCount(subset), 0);
  return { Endpoints: firstFew(subsets.flatMap(endpointTexts), shownMax, ",", count) };
}

export function endpointSliceCells(slice: JsonObject): Cells {
  const ports = structsIn(slice, "ports").map((port) => String(port["port"] ?? (textIn(port, "name") || "*")));
  const addresses = structsIn(slice, "endpoints").flatMap((endpoint) => textsIn(endpoint, "addresses"));
  return {
    AddressType: textIn(slice, "addressType"),
    Ports: firstFew(ports, shownMax) || "<unset>",
    Endpoints: firstFew(addresses, shownMax) || "<unset>",
  };
}

/** IPs, or else host names, of a load balancer, in order. */
export function loadBalancerTexts(status: JsonObject): string[] {
  const texts = structsIn(structIn(status, "loadBalancer"), "ingress").flatMap((ingress) => {
    const text = textIn(ingress, "ip") || textIn(ingress, "hostname");
    return text === "" ? [] : [text];
  });
  return [...new Set(texts)].sort();
}

function externalText(spec: JsonObject, status: JsonObject): string {
  const external = textsIn(spec, "externalIPs");
  switch (textIn(spec, "type")) {
    case "ClusterIP":
    case "NodePort":
      return external.join(",") || "<none>";
    case "LoadBalancer":
      return [...loadBalancerTexts(status), ...external].join(",") || "<pending>";
    case "ExternalName":
      return textIn(spec, "externalName");
    default:
      return "<unknown>";
  }
}

function portText(port: JsonObject): string {
  const nodePort = numberIn(port, "nodePort");
  return `${numberIn(port, "port")}${nodePort > 0 ? `:${nodePort}` : ""}/${textIn(port, "protocol")}`;
}

/** Every address has every port: there can be far more than anyone wants to list. */
function endpointCount(subset: JsonObject): number {
  return structsIn(subset, "addresses").length * Math.max(structsIn(subset, "ports").length, 1);
}

/** The first endpoints of a subset: `shownMax` at least, where there are as many. */
function endpointTexts(subset: JsonObject): string[] {
  const addresses = structsIn(subset, "addresses")
    .slice(0, shownMax)
    .map((address) => textIn(address, "ip"));
  const ports = structsIn(subset, "ports").slice(0, shownMax);
  if (ports.length === 0) return addresses;
  return ports.flatMap((port) => addresses.map((ip) => hostPort(ip, numberIn(port, "port"))));
}

function hostPort(ip: string, port: number): string {
  return ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`;
}

import { pairsText } from "../../api/codec/table/cell-text.ts";
import { numberOf, objectOf, objectsOf, textOf, textsOf } from "../../api/json-reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";
import { loadBalancerTexts } from "./load-balancer-texts.ts";

export function serviceCells(service: JsonObject): Cells {
  const spec = objectOf(service["spec"]);
  return {
    Type: textOf(spec["type"]),
    "Cluster-IP": textsOf(spec["clusterIPs"])[0] ?? "<none>",
    "External-IP": externalText(spec, objectOf(service["status"])),
    "Port(s)": objectsOf(spec["ports"]).map(portText).join(",") || "<none>",
    Selector: pairsText(spec["selector"]),
  };
}

function externalText(spec: JsonObject, status: JsonObject): string {
  const external = textsOf(spec["externalIPs"]);
  switch (textOf(spec["type"])) {
    case "ClusterIP":
    case "NodePort":
      return external.join(",") || "<none>";
    case "LoadBalancer":
      return [...loadBalancerTexts(status), ...external].join(",") || "<pending>";
    case "ExternalName":
      return textOf(spec["externalName"]);
    default:
      return "<unknown>";
  }
}

function portText(port: JsonObject): string {
  const nodePort = numberOf(port["nodePort"]);
  return `${numberOf(port["port"])}${nodePort > 0 ? `:${nodePort}` : ""}/${textOf(port["protocol"])}`;
}

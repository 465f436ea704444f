import { numberIn, pairsText, structIn, structsIn, textIn, textsIn } from "../../api/codec/table/reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";
import { loadBalancerTexts } from "./load-balancer-texts.ts";

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

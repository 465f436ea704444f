import type { JsonObject } from "../../json.ts";
import type { Cells } from "./cells.ts";
import { structIn, structsIn, textIn, textsIn } from "./reading.ts";
import { loadBalancerTexts } from "./service-cells.ts";
import { selectorText } from "./workload-cells.ts";

const hostsShownMax = 3;

export function ingressCells(ingress: JsonObject): Cells {
  const spec = structIn(ingress, "spec");
  return {
    Class: textIn(spec, "ingressClassName") || "<none>",
    Hosts: hostsText(structsIn(spec, "rules")),
    Address: loadBalancerTexts(structIn(ingress, "status")).join(","),
    Ports: structsIn(spec, "tls").length > 0 ? "80, 443" : "80",
  };
}

export function ingressClassCells(ingressClass: JsonObject): Cells {
  const spec = structIn(ingressClass, "spec");
  const parameters = structIn(spec, "parameters");
  const group = textIn(parameters, "apiGroup");
  const kind = `${textIn(parameters, "kind")}${group === "" ? "" : `.${group}`}`;
  return {
    Controller: textIn(spec, "controller"),
    Parameters: spec["parameters"] === undefined ? "<none>" : `${kind}/${textIn(parameters, "name")}`,
  };
}

export function networkPolicyCells(policy: JsonObject): Cells {
  return { "Pod-Selector": selectorText(structIn(policy, "spec")["podSelector"]) };
}

export function ipAddressCells(address: JsonObject): Cells {
  const parent = structIn(address, "spec")["parentRef"];
  return { ParentRef: parent === undefined ? "<none>" : parentText(structIn(structIn(address, "spec"), "parentRef")) };
}

export function serviceCidrCells(serviceCidr: JsonObject): Cells {
  return { CIDRs: textsIn(structIn(serviceCidr, "spec"), "cidrs").join(",") };
}

/** After the third host, rules are counted, whether they name a host or not. */
function hostsText(rules: readonly JsonObject[]): string {
  const hosts: string[] = [];
  let more = false;
  for (const rule of rules) {
    const host = textIn(rule, "host");
    if (hosts.length === hostsShownMax) more = true;
    else if (host !== "") hosts.push(host);
  }
  if (hosts.length === 0) return "*";
  return hosts.join(",") + (more ? ` + ${rules.length - hostsShownMax} more...` : "");
}

/** `services/default/kubernetes`: resource and group, namespace where there is one, name. */
function parentText(parent: JsonObject): string {
  const group = textIn(parent, "group");
  const resource = `${textIn(parent, "resource")}${group === "" ? "" : `.${group}`}`.toLowerCase();
  return [resource, textIn(parent, "namespace"), textIn(parent, "name")].filter((part) => part !== "").join("/");
}

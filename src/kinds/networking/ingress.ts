import type { Cells } from "../../api/codec/table/table-rules.ts";
import type * as networkingV1 from "../../api/types/networking-v1.ts";
import { warnAboutIp } from "../../api/validation/strict-ip.ts";
import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { loadBalancerTexts } from "../core/load-balancer-texts.ts";
import { classAnnotation, pointsOf, validateIngress, validateIngressStatus } from "./validation/ingress.ts";

const hostsShownMax = 3;

const ingressStrategy: Strategy<networkingV1.Ingress> = {
  ...defaultStrategy,
  coversSchema: true,
  generationFields: ["spec"],
  resetFields: ["status"],
  validate: validateIngress,
  warnings({ metadata, spec }, old) {
    if (old !== undefined || spec?.ingressClassName !== undefined) return [];
    if (metadata.annotations?.[classAnnotation] === undefined) return [];
    return [`annotation "${classAnnotation}" is deprecated, please use 'spec.ingressClassName' instead`];
  },
};

const ingressStatusStrategy: Strategy<networkingV1.Ingress> = {
  ...statusStrategy(ingressStrategy),
  validate: validateIngressStatus,
  warnings: (ingress) =>
    pointsOf(ingress).flatMap(({ ip = "" }, at) => warnAboutIp(ip, `status.loadBalancer.ingress[${at}]`)),
};

export const ingress = builtInKind("ingresses.networking.k8s.io", {
  endpoint: stored(ingressStrategy),
  table: { cells: ingressCells },
  subresources: {
    status: subresource(ingressStatusStrategy),
  },
  descriptions: {
    "networking/v1.Ingress": { "": "Leads HTTP requests from outside to services." },
    "networking/v1.IngressSpec": {
      "": "Routes from hosts and paths to services.",
      ingressClassName: "The class of the ingress.",
      defaultBackend: "Takes what no rule matches.",
      tls: "Certificates by host name.",
      rules: "Backends by host name and path.",
    },
    "networking/v1.IngressStatus": { "": "The observed state.", loadBalancer: "Addresses of the ingress." },
  },
});

function ingressCells({ spec = {}, status = {} }: networkingV1.Ingress): Cells {
  return {
    Class: spec.ingressClassName || "<none>",
    Hosts: hostsText(spec.rules ?? []),
    Address: loadBalancerTexts(status.loadBalancer).join(","),
    Ports: (spec.tls ?? []).length > 0 ? "80, 443" : "80",
  };
}

/** After the third host, rules are counted, whether they name a host or not. */
function hostsText(rules: readonly networkingV1.IngressRule[]): string {
  const hosts: string[] = [];
  let more = false;
  for (const { host = "" } of rules) {
    if (hosts.length === hostsShownMax) more = true;
    else if (host !== "") hosts.push(host);
  }
  if (hosts.length === 0) return "*";
  return hosts.join(",") + (more ? ` + ${rules.length - hostsShownMax} more...` : "");
}

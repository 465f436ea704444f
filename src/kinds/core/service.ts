import { pairsText } from "../../api/codec/table/cell-text.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { Service, ServicePort, ServiceSpec, ServiceStatus } from "../../api/types/core-v1.ts";
import { dnsLabelProblems } from "../../api/validation/names.ts";
import { warnAboutIp } from "../../api/validation/strict-ip.ts";
import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, connection, stored, subresource } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { loadBalancerTexts } from "./load-balancer-texts.ts";
import { serviceDescriptions } from "./service-descriptions.ts";
import { serviceWarnings } from "./service-warnings.ts";
import { trafficPolicies, validateService, validateServiceStatus } from "./validation/service.ts";
import { validateServiceUpdate } from "./validation/service-update.ts";

const serviceStrategy: Strategy<Service> = {
  ...defaultStrategy,
  metaRules: "update",
  coversSchema: true,
  allowCreateOnUpdate: true,
  returnsDeletedObject: true,
  resetFields: ["status"],
  validateName: dnsLabelProblems,
  prepareForCreate(service) {
    service.status = { loadBalancer: {} };
    dropInternalTraffic(service);
  },
  prepareForUpdate: dropInternalTraffic,
  validate: (service, old) => validateService(service, old),
  validateUpdate: validateServiceUpdate,
  warnings: serviceWarnings,
};

const serviceStatusStrategy: Strategy<Service> = {
  ...statusStrategy(serviceStrategy),
  // Upstream forgets to take this from the rules of the service.
  allowCreateOnUpdate: true,
  validate: validateServiceStatus,
  warnings: ({ status = {} }) =>
    (status.loadBalancer?.ingress ?? []).flatMap(({ ip = "" }, at) =>
      ip === "" ? [] : warnAboutIp(ip, `status.loadBalancer.ingress[${at}].ip`),
    ),
};

export const service = builtInKind("services", {
  endpoint: stored(serviceStrategy),
  table: { cells: serviceCells },
  defaults: {
    "core/v1.Service": defaultService,
  },
  subresources: {
    proxy: connection("serviceProxy"),
    status: subresource(serviceStatusStrategy),
  },
  descriptions: serviceDescriptions,
});

function serviceCells({ spec = {}, status = {} }: Service): Cells {
  return {
    Type: spec.type ?? "",
    "Cluster-IP": spec.clusterIPs?.[0] ?? "<none>",
    "External-IP": externalText(spec, status),
    "Port(s)": (spec.ports ?? []).map(portText).join(",") || "<none>",
    Selector: pairsText(spec.selector),
  };
}

function externalText({ type, externalIPs = [], externalName = "" }: ServiceSpec, status: ServiceStatus): string {
  switch (type) {
    case "ClusterIP":
    case "NodePort":
      return externalIPs.join(",") || "<none>";
    case "LoadBalancer":
      return [...loadBalancerTexts(status.loadBalancer), ...externalIPs].join(",") || "<pending>";
    case "ExternalName":
      return externalName;
    default:
      return "<unknown>";
  }
}

function portText({ port, nodePort = 0, protocol = "" }: ServicePort): string {
  return `${port}${nodePort > 0 ? `:${nodePort}` : ""}/${protocol}`;
}

const affinitySeconds = 10_800;

/** Addresses and node ports are not defaults: they are allocated when the Service is written. */
function defaultService({ spec, status }: Service): void {
  if (spec === undefined) return;
  spec.sessionAffinity ||= "None";
  spec.type ||= "ClusterIP";
  defaultAffinity(spec);
  for (const port of spec.ports ?? []) {
    port.protocol ||= "TCP";
    port.targetPort ||= port.port;
  }
  if (isReachable(spec)) spec.externalTrafficPolicy ||= "Cluster";
  if (spec.type !== "ExternalName") spec.internalTrafficPolicy ??= "Cluster";
  if (spec.type !== "LoadBalancer") return;
  spec.allocateLoadBalancerNodePorts ??= true;
  for (const point of status?.loadBalancer?.ingress ?? []) {
    if (point.ip) point.ipMode ??= "VIP";
  }
}

/** A name outside the cluster has no traffic of pods. Invalid policies are left to validation. */
function dropInternalTraffic({ spec }: Service): void {
  if (spec?.type !== "ExternalName" || !trafficPolicies.includes(spec.internalTrafficPolicy ?? "")) return;
  delete spec.internalTrafficPolicy;
}

function defaultAffinity(spec: ServiceSpec): void {
  if (spec.sessionAffinity === "None") delete spec.sessionAffinityConfig;
  if (spec.sessionAffinity !== "ClientIP") return;
  spec.sessionAffinityConfig ??= {};
  spec.sessionAffinityConfig.clientIP ??= {};
  spec.sessionAffinityConfig.clientIP.timeoutSeconds ??= affinitySeconds;
}

/** Reports whether clients outside the cluster can reach the service. */
function isReachable({ type, externalIPs = [] }: ServiceSpec): boolean {
  return type === "NodePort" || type === "LoadBalancer" || (type === "ClusterIP" && externalIPs.length > 0);
}

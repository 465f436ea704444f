import type { Service, ServiceSpec } from "../../api/types/core-v1.ts";
import { warnAboutCidr, warnAboutIp } from "../../api/validation/strict-ip.ts";

const hintsAnnotation = "service.kubernetes.io/topology-aware-hints";
const modeAnnotation = "service.kubernetes.io/topology-mode";

/** Warns about parts of a Service that have no effect or are deprecated. */
export function serviceWarnings({ metadata, spec = {} }: Service): string[] {
  const { type, clusterIP = "", clusterIPs = [], externalIPs = [], loadBalancerIP = "" } = spec;
  const isHeadless = type === "ClusterIP" && clusterIP === "None";
  const isExternal = type === "ExternalName";
  const hasHints = Object.hasOwn(metadata.annotations ?? {}, hintsAnnotation);
  return [
    ...(hasHints ? [`annotation ${hintsAnnotation} is deprecated, please use ${modeAnnotation} instead`] : []),
    ...clusterIPs.flatMap((ip, at) => (ip === "None" ? [] : warnAboutIp(ip, `spec.clusterIPs[${at}]`))),
    ...(isHeadless ? headlessWarnings(spec) : []),
    ...externalIPs.flatMap((ip, at) => warnAboutIp(ip, `spec.externalIPs[${at}]`)),
    ...(externalIPs.length > 0 && !isHeadless && !isExternal
      ? ["spec.externalIPs is deprecated and may no longer be implemented in some clusters"]
      : []),
    ...(loadBalancerIP === "" ? [] : warnAboutIp(loadBalancerIP, "spec.loadBalancerIP")),
    ...(spec.loadBalancerSourceRanges ?? []).flatMap((cidr, at) =>
      warnAboutCidr(cidr, `spec.loadBalancerSourceRanges[${at}]`),
    ),
    ...(isExternal && externalIPs.length > 0 ? ['spec.externalIPs is ignored when spec.type is "ExternalName"'] : []),
    ...(!isExternal && (spec.externalName ?? "") !== ""
      ? ['spec.externalName is ignored when spec.type is not "ExternalName"']
      : []),
    ...(spec.trafficDistribution === "PreferClose"
      ? ['spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"']
      : []),
  ];
}

function headlessWarnings({ loadBalancerIP = "", externalIPs = [], sessionAffinity }: ServiceSpec): string[] {
  return [
    ...(loadBalancerIP === "" ? [] : ["spec.loadBalancerIP is ignored for headless services"]),
    ...(externalIPs.length === 0 ? [] : ["spec.externalIPs is ignored for headless services"]),
    ...(sessionAffinity === "None" ? [] : ["spec.SessionAffinity is ignored for headless services"]),
  ];
}

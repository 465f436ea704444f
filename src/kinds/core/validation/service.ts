import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { labelKeyErrors } from "../../../api/label-syntax.ts";
import type { LoadBalancerIngress, Service, ServicePort, ServiceSpec } from "../../../api/types/core-v1.ts";
import { validateRange, validateRequiredChoice } from "../../../api/validation/field-rules.ts";
import { internalForm } from "../../../api/validation/internal-form.ts";
import { validateNonSpecialIp } from "../../../api/validation/ip.ts";
import { validateLabels } from "../../../api/validation/labels.ts";
import { dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { validatePortNumber } from "../../../api/validation/port.ts";
import { validateStrictCidr, validateStrictIp } from "../../../api/validation/strict-ip.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { validateIngressPoint } from "../../networking/validation/ingress.ts";
import { needsHealthCheckPort } from "../../service-allocation/service.ts";
import { addressFieldErrors } from "../../service-allocation/service-families.ts";
import { validateServicePorts } from "./service-port.ts";

const types = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const affinities = ["ClientIP", "None"];
export const trafficPolicies: readonly string[] = ["Cluster", "Local"];
const distributions = ["PreferClose", "PreferSameZone", "PreferSameNode"];
const ipModes = ["Proxy", "VIP"];
const kubeletPort = 10_250;
const affinitySeconds = { min: 1, max: 86_400 };
const rangesAnnotation = "service.beta.kubernetes.io/load-balancer-source-ranges";
const hintsAnnotation = "service.kubernetes.io/topology-aware-hints";
const modeAnnotation = "service.kubernetes.io/topology-mode";
const balancerOnlyText = "may only be used when `type` is 'LoadBalancer'";

/**
 * Validates a Service with its defaults, addresses and ports.
 * @param old replaced Service, whose addresses and ranges are accepted even if newer rules reject them
 */
export function validateService(service: Service, old?: Service): FieldError[] {
  const { spec = {} } = service;
  const knownIps = new Set(old?.spec?.externalIPs);
  const { ports = [] } = spec;
  const headless = isHeadless(spec);
  return [
    ...validateTopologyAnnotations(service),
    ...(ports.length === 0 && !headless && spec.type !== "ExternalName" ? [fieldError.required("spec.ports")] : []),
    ...validateByType(spec, ports, headless),
    ...validateServicePorts(ports, "spec.ports"),
    ...validateLabels(spec.selector ?? {}, "spec.selector"),
    ...validateAffinity(spec),
    ...(spec.type === "ExternalName" ? [] : addressFieldErrors(spec, old?.spec)),
    ...validateEach(spec.externalIPs ?? [], (ip, at) =>
      validateExternalIp(ip, knownIps.has(ip), `spec.externalIPs[${at}]`),
    ),
    ...validateRequiredChoice(spec.type, types, "spec.type"),
    ...validateUnique(ports, spec.type, "spec.ports"),
    ...validateSourceRanges(service, spec, old),
    ...validateBalancerFields(spec),
    ...validateExternalTraffic(spec),
    ...validateInternalTraffic(spec),
    ...validateDistribution(spec.trafficDistribution, "spec.trafficDistribution"),
  ];
}

export function validateServiceStatus({ spec, status }: Service): FieldError[] {
  const isBalancer = spec?.type === "LoadBalancer";
  const points = status?.loadBalancer?.ingress ?? [];
  const field = "status.loadBalancer.ingress";
  if (!isBalancer && points.length > 0) {
    return [fieldError.forbidden(field, "may only be used when `spec.type` is 'LoadBalancer'")];
  }
  return validateEach(points, (point, at) => validatePoint(point, `${field}[${at}]`));
}

/** A headless Service has no address. Clients look up those of its endpoints. */
export function isHeadless({ clusterIPs = [] }: ServiceSpec): boolean {
  return clusterIPs.length === 1 && clusterIPs[0] === "None";
}

function validateTopologyAnnotations({ metadata }: Service): FieldError[] {
  const { [modeAnnotation]: mode, [hintsAnnotation]: hints } = metadata.annotations ?? {};
  if (mode === undefined || hints === undefined || mode === hints) return [];
  const text = `must match annotations[${hintsAnnotation}] when both are specified`;
  return [fieldError.invalid(`metadata.annotations[${modeAnnotation}]`, mode, text)];
}

function validateByType(spec: ServiceSpec, ports: readonly ServicePort[], headless: boolean): FieldError[] {
  const { type } = spec;
  if (type === "ExternalName") return validateExternalName(spec);
  if (type !== "LoadBalancer" && type !== "NodePort") return [];
  const exposed = type === "LoadBalancer" ? ports : [];
  const errors = validateEach(exposed, ({ port }, at) => {
    const text = `may not expose port ${kubeletPort} externally since it is used by kubelet`;
    return port === kubeletPort ? [fieldError.invalid(`spec.ports[${at}]`, port, text)] : [];
  });
  if (!headless) return errors;
  return [...errors, fieldError.invalid("spec.clusterIPs[0]", "None", `may not be set to 'None' for ${type} services`)];
}

function validateExternalName(spec: ServiceSpec): FieldError[] {
  const text = "may not be set for ExternalName services";
  const given = [
    ...(["clusterIPs", "ipFamilies"] as const).filter((name) => (spec[name] ?? []).length > 0),
    ...(spec.ipFamilyPolicy === undefined ? [] : ["ipFamilyPolicy"]),
  ];
  const errors = given.map((name) => fieldError.forbidden(`spec.${name}`, text));
  const full = spec.externalName ?? "";
  const name = full.endsWith(".") ? full.slice(0, -1) : full;
  if (name === "") return [...errors, fieldError.required("spec.externalName")];
  const problems = dnsSubdomainProblems(name);
  return [...errors, ...problems.map((problem) => fieldError.invalid("spec.externalName", name, problem))];
}

function validateAffinity({ sessionAffinity: affinity, sessionAffinityConfig: config }: ServiceSpec): FieldError[] {
  const field = "spec.sessionAffinityConfig";
  const errors = validateRequiredChoice(affinity, affinities, "spec.sessionAffinity");
  if (affinity === "None" && config !== undefined) {
    return [...errors, fieldError.forbidden(field, "must not be set when session affinity is None")];
  }
  if (affinity !== "ClientIP") return errors;
  if (config === undefined) {
    return [...errors, fieldError.required(field, "when session affinity type is ClientIP")];
  }
  const { clientIP } = config;
  if (clientIP === undefined) {
    return [...errors, fieldError.required(`${field}.clientIP`, "when session affinity type is ClientIP")];
  }
  const { timeoutSeconds: seconds } = clientIP;
  if (seconds === undefined) {
    const text = "when session affinity type is ClientIP";
    return [...errors, fieldError.required(`${field}.clientIP.timeoutSeconds`, text)];
  }
  const { min, max } = affinitySeconds;
  if (validateRange(seconds, affinitySeconds, field).length === 0) return errors;
  const text = `must be greater than ${min - 1} and less than ${max}`;
  return [...errors, fieldError.invalid(`${field}.clientIP.timeoutSeconds`, seconds, text)];
}

function validateExternalIp(ip: string, isKnown: boolean, field: string): FieldError[] {
  const errors = isKnown ? [] : validateStrictIp(ip, field);
  return errors.length === 0 ? validateNonSpecialIp(ip, field) : errors;
}

/** Validates node ports, which only some types have. Each pair of protocol and port occurs once. */
function validateUnique(ports: readonly ServicePort[], type: string | undefined, field: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [at, { nodePort = 0 }] of ports.entries()) {
    if (type !== "ClusterIP" || nodePort === 0) continue;
    errors.push(fieldError.forbidden(`${field}[${at}].nodePort`, "may not be used when `type` is 'ClusterIP'"));
  }
  const nodePorts = new Set<string>();
  for (const [at, { protocol = "", nodePort = 0 }] of ports.entries()) {
    if (nodePort === 0) continue;
    const pair = `${protocol}/${nodePort}`;
    if (nodePorts.has(pair)) errors.push(fieldError.duplicate(`${field}[${at}].nodePort`, nodePort));
    nodePorts.add(pair);
  }
  const numbers = new Set<string>();
  for (const [at, { protocol = "", port }] of ports.entries()) {
    const pair = `${protocol}/${port}`;
    if (numbers.has(pair))
      errors.push(fieldError.duplicate(`${field}[${at}]`, internalForm({ protocol, port }, "core/v1.ServicePort")));
    numbers.add(pair);
  }
  return errors;
}

/** Validates the allowed clients of the load balancer, in the field or in the older annotation. */
function validateSourceRanges({ metadata }: Service, spec: ServiceSpec, old: Service | undefined): FieldError[] {
  const { loadBalancerSourceRanges: ranges = [] } = spec;
  const annotation = metadata.annotations?.[rangesAnnotation];
  const isField = ranges.length > 0;
  if (!isField && annotation === undefined) return [];
  const field = isField ? "spec.LoadBalancerSourceRanges" : `metadata.annotations[${rangesAnnotation}]`;
  const errors = spec.type === "LoadBalancer" ? [] : [fieldError.forbidden(field, balancerOnlyText)];
  const listed = annotation?.trim() ?? "";
  const cidrs = isField || listed === "" ? ranges : listed.split(",");
  const known = new Set((old?.spec?.loadBalancerSourceRanges ?? []).map((range) => range.trim()));
  const isSameText = old !== undefined && old.metadata.annotations?.[rangesAnnotation] === annotation;
  const isKnown = (cidr: string) => (isField ? known.has(cidr) : isSameText);
  return [
    ...errors,
    ...validateEach(cidrs, (text, at) => {
      const cidr = text.trim();
      return isKnown(cidr) ? [] : validateStrictCidr(cidr, isField ? `${field}[${at}]` : field);
    }),
  ];
}

function validateBalancerFields(spec: ServiceSpec): FieldError[] {
  const { allocateLoadBalancerNodePorts: allocates } = spec;
  const isBalancer = spec.type === "LoadBalancer";
  const errors: FieldError[] = [];
  if (isBalancer && allocates === undefined) errors.push(fieldError.required("allocateLoadBalancerNodePorts"));
  if (!isBalancer && allocates !== undefined) {
    errors.push(fieldError.forbidden("spec.allocateLoadBalancerNodePorts", balancerOnlyText));
  }
  return [...errors, ...validateBalancerClass(spec)];
}

export function validateBalancerClass({ type, loadBalancerClass: value }: ServiceSpec): FieldError[] {
  const field = "spec.loadBalancerClass";
  if (value === undefined) return [];
  if (type !== "LoadBalancer") return [fieldError.forbidden(field, balancerOnlyText)];
  return labelKeyErrors(value).map((problem) => fieldError.invalid(field, value, problem));
}

function validateExternalTraffic(spec: ServiceSpec): FieldError[] {
  const { type, externalIPs = [], externalTrafficPolicy: policy = "" } = spec;
  const field = "spec.externalTrafficPolicy";
  const isReachable =
    type === "LoadBalancer" || type === "NodePort" || (type === "ClusterIP" && externalIPs.length > 0);
  const errors = isReachable ? validateRequiredChoice(policy, trafficPolicies, field) : [];
  if (!isReachable && policy !== "") {
    errors.push(fieldError.invalid(field, policy, "may only be set for externally-accessible services"));
  }
  return [...errors, ...validateHealthCheckPort(spec.healthCheckNodePort ?? 0, needsHealthCheckPort(spec))];
}

function validateHealthCheckPort(port: number, isNeeded: boolean): FieldError[] {
  const field = "spec.healthCheckNodePort";
  if (isNeeded) return port === 0 ? [fieldError.required(field)] : validatePortNumber(port, field);
  const text = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
  return port === 0 ? [] : [fieldError.invalid(field, port, text)];
}

function validateInternalTraffic({ type, internalTrafficPolicy: policy }: ServiceSpec): FieldError[] {
  const field = "spec.internalTrafficPolicy";
  if (policy === undefined) return type === "ExternalName" ? [] : [fieldError.required(field)];
  return trafficPolicies.includes(policy) ? [] : [fieldError.notSupported(field, policy, trafficPolicies)];
}

function validateDistribution(value: string | undefined, field: string): FieldError[] {
  if (value === undefined || distributions.includes(value)) return [];
  return [fieldError.notSupported(field, value, distributions)];
}

function validatePoint({ ip = "", hostname = "", ipMode }: LoadBalancerIngress, field: string): FieldError[] {
  return [
    ...validateIngressPoint({ ip }, field),
    ...validateIpMode(ip !== "", ipMode, `${field}.ipMode`),
    ...validateIngressPoint({ hostname }, field),
  ];
}

function validateIpMode(hasIp: boolean, mode: string | undefined, field: string): FieldError[] {
  if (mode === undefined) return hasIp ? [fieldError.required(field, "must be specified when `ip` is set")] : [];
  if (!hasIp) return [fieldError.forbidden(field, "may not be specified when `ip` is not set")];
  return ipModes.includes(mode) ? [] : [fieldError.notSupported(field, mode, ipModes)];
}

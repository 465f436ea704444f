import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { isGivenEmpty } from "../../../api/schema/given-empty.ts";
import type * as networkingV1 from "../../../api/types/networking-v1.ts";
import { validateText } from "../../../api/validation/field-rules.ts";
import { isIp, validateIp } from "../../../api/validation/ip.ts";
import { dnsSubdomainProblems, wildcardDnsProblems } from "../../../api/validation/names.ts";
import { validateStrictIp } from "../../../api/validation/strict-ip.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { validateIngressBackend } from "./ingress-backend.ts";

export const classAnnotation = "kubernetes.io/ingress.class";
const pathTypes = ["Exact", "ImplementationSpecific", "Prefix"];
const badPathSequences = ["//", "/./", "/../", "%2f", "%2F"];
const badPathEnds = ["/..", "/."];

export function validateIngress(ingress: networkingV1.Ingress, old?: networkingV1.Ingress): FieldError[] {
  const { spec = {} } = ingress;
  const { rules = [], tls = [], defaultBackend, ingressClassName } = spec;
  const allowed = toleratedProblems(old);
  return [
    ...(rules.length > 0 || defaultBackend !== undefined
      ? []
      : [
          fieldError.invalid(
            "spec",
            isGivenEmpty(spec, "rules") ? [] : null,
            "either `defaultBackend` or `rules` must be specified",
          ),
        ]),
    ...(defaultBackend === undefined ? [] : validateIngressBackend(defaultBackend, "spec.defaultBackend")),
    ...validateEach(rules, (rule, at) => validateRule(rule, allowed.wildcardRules, `spec.rules[${at}]`)),
    ...validateEach(tls, (entry, at) => validateTls(entry, allowed.secretNames, `spec.tls[${at}]`)),
    ...(ingressClassName === undefined
      ? []
      : dnsSubdomainProblems(ingressClassName).map((problem) =>
          fieldError.invalid("spec.ingressClassName", ingressClassName, problem),
        )),
    ...(old === undefined ? validateClassAnnotation(ingress, spec) : []),
  ];
}

export function validateIngressStatus(ingress: networkingV1.Ingress, old?: networkingV1.Ingress): FieldError[] {
  const known = new Set(pointsOf(old).map(({ ip }) => ip));
  return validateEach(pointsOf(ingress), ({ ip = "", hostname }, at) => {
    const field = `status.loadBalancer.ingress[${at}]`;
    const errors = ip === "" || known.has(ip) ? [] : validateStrictIp(ip, `${field}.ip`);
    return [...errors, ...validateIngressPoint(hostname === undefined ? {} : { hostname }, field)];
  });
}

/** The points at which a load balancer can be reached. */
export function pointsOf(ingress: networkingV1.Ingress | undefined): networkingV1.IngressLoadBalancerIngress[] {
  return ingress?.status?.loadBalancer?.ingress ?? [];
}

/** A load balancer can be reached at an address, a DNS name, or both. */
export function validateIngressPoint(
  { ip = "", hostname = "" }: { readonly ip?: string; readonly hostname?: string },
  field: string,
): FieldError[] {
  const errors = ip === "" ? [] : validateIp(ip, `${field}.ip`);
  errors.push(...validateText(hostname, dnsSubdomainProblems, `${field}.hostname`));
  return [...errors, ...validateNoIp(hostname, `${field}.hostname`)];
}

/** Rules that came later than objects spare the objects that broke them before. */
function toleratedProblems(old: networkingV1.Ingress | undefined): { secretNames: boolean; wildcardRules: boolean } {
  const { tls = [], rules = [] } = old?.spec ?? {};
  return {
    secretNames: tls.some(({ secretName = "" }) => secretName !== "" && dnsSubdomainProblems(secretName).length > 0),
    wildcardRules: rules.some(({ host = "", http }) => host.includes("*") && validateHttp(http, "").length > 0),
  };
}

function validateNoIp(host: string, field: string): FieldError[] {
  return isIp(host) ? [fieldError.invalid(field, host, "must be a DNS name, not an IP address")] : [];
}

/** The annotation is the older way to name the class. */
function validateClassAnnotation({ metadata }: networkingV1.Ingress, spec: networkingV1.IngressSpec): FieldError[] {
  const annotation = metadata.annotations?.[classAnnotation];
  const name = spec.ingressClassName;
  if (annotation === undefined || name === undefined || annotation === name) return [];
  const text = "must match `ingressClassName` when both are specified";
  return [fieldError.invalid(`annotations.${classAnnotation}`, annotation, text)];
}

function validateRule(rule: networkingV1.IngressRule, sparesWildcards: boolean, field: string): FieldError[] {
  const { host = "", http } = rule;
  const isWildcard = host.includes("*");
  return [
    ...validateNoIp(host, `${field}.host`),
    ...validateText(host, isWildcard ? wildcardDnsProblems : dnsSubdomainProblems, `${field}.host`),
    ...(isWildcard && sparesWildcards ? [] : validateHttp(http, `${field}.http`)),
  ];
}

function validateHttp(http: networkingV1.HTTPIngressRuleValue | undefined, field: string): FieldError[] {
  if (http === undefined) return [];
  const paths = http.paths ?? [];
  return [
    ...(paths.length === 0 ? [fieldError.required(`${field}.paths`)] : []),
    ...validateEach(paths, (path, at) => validatePath(path, `${field}.paths[${at}]`)),
  ];
}

function validatePath(path: networkingV1.HTTPIngressPath, field: string): FieldError[] {
  const type = path.pathType;
  if (type === null) return [fieldError.required(`${field}.pathType`, "pathType must be specified")];
  return [
    ...validatePathText(path.path ?? "", type, field),
    ...validateIngressBackend(path.backend, `${field}.backend`),
  ];
}

function validatePathText(path: string, type: string, field: string): FieldError[] {
  if (!pathTypes.includes(type)) return [fieldError.notSupported(`${field}.pathType`, type, pathTypes)];
  const isFree = type === "ImplementationSpecific";
  const invalid = (text: string) => fieldError.invalid(`${field}.path`, path, text);
  const errors = path.startsWith("/") || (isFree && path === "") ? [] : [invalid("must be an absolute path")];
  if (isFree) return errors;
  return [
    ...errors,
    ...badPathSequences.filter((part) => path.includes(part)).map((part) => invalid(`must not contain '${part}'`)),
    ...badPathEnds.filter((end) => path.endsWith(end)).map((end) => invalid(`cannot end with '${end}'`)),
  ];
}

function validateTls(tls: networkingV1.IngressTLS, sparesSecretNames: boolean, field: string): FieldError[] {
  return [
    ...validateEach(tls.hosts ?? [], (host, at) =>
      (host.includes("*") ? wildcardDnsProblems : dnsSubdomainProblems)(host).map((problem) =>
        fieldError.invalid(`${field}.hosts[${at}]`, host, problem),
      ),
    ),
    ...(sparesSecretNames ? [] : validateText(tls.secretName, dnsSubdomainProblems, `${field}.secretName`)),
  ];
}

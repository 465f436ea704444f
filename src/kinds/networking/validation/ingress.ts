import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { isIp, validateIp } from "../../../api/validation/ip.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import {
  dnsLabel1035Problems,
  dnsSubdomainProblems,
  pathSegmentProblems,
  portNameProblems,
  wildcardDnsProblems,
} from "../../../api/validation/names.ts";
import { isPresent, numberOf, objectsOf, textOf, textsOf, validateText } from "../../../api/validation/fields.ts";
import { validatePortNumber } from "../../../api/validation/port.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const classAnnotation = "kubernetes.io/ingress.class";
const pathTypes = ["Exact", "ImplementationSpecific", "Prefix"];
const badPathSequences = ["//", "/./", "/../", "%2f", "%2F"];
const badPathEnds = ["/..", "/."];

export function validateIngress(ingress: KubeObject, old?: KubeObject): FieldError[] {
  const spec = fieldsOf(ingress["spec"]);
  const rules = objectsOf(spec["rules"]);
  return [
    ...validateAnyBackend(spec, rules),
    ...(isPresent(spec["defaultBackend"])
      ? validateBackend(fieldsOf(spec["defaultBackend"]), "spec.defaultBackend")
      : []),
    ...validateEach(rules, (rule, at) => validateRule(rule, `spec.rules[${at}]`)),
    ...validateEach(objectsOf(spec["tls"]), (tls, at) => validateTls(tls, `spec.tls[${at}]`)),
    ...validateText(spec["ingressClassName"], dnsSubdomainProblems, "spec.ingressClassName"),
    ...(old === undefined ? validateClassAnnotation(ingress, spec) : []),
  ];
}

export function validateIngressStatus(ingress: KubeObject): FieldError[] {
  const balancer = fieldsOf(fieldsOf(ingress["status"])["loadBalancer"]);
  return validateEach(objectsOf(balancer["ingress"]), (point, at) =>
    validateIngressPoint(point, `status.loadBalancer.ingress[${at}]`),
  );
}

/** Where a load balancer can be reached: an address, a DNS name, or both. */
export function validateIngressPoint({ ip, hostname }: JsonObject, field: string): FieldError[] {
  const errors = textOf(ip) === "" ? [] : validateIp(ip, `${field}.ip`);
  errors.push(...validateText(hostname, dnsSubdomainProblems, `${field}.hostname`));
  return [...errors, ...validateNoIp(textOf(hostname), `${field}.hostname`)];
}

function validateNoIp(host: string, field: string): FieldError[] {
  return isIp(host) ? [fieldError.invalid(field, host, "must be a DNS name, not an IP address")] : [];
}

function validateAnyBackend(spec: JsonObject, rules: readonly JsonObject[]): FieldError[] {
  if (rules.length > 0 || isPresent(spec["defaultBackend"])) return [];
  return [fieldError.invalid("spec", spec["rules"], "either `defaultBackend` or `rules` must be specified")];
}

/** The annotation is the older way to name the class. */
function validateClassAnnotation({ metadata }: KubeObject, spec: JsonObject): FieldError[] {
  const annotation = metadata.annotations?.[classAnnotation];
  const name = spec["ingressClassName"];
  if (annotation === undefined || !isPresent(name) || annotation === name) return [];
  const text = "must match `ingressClassName` when both are specified";
  return [fieldError.invalid(`annotations.${classAnnotation}`, annotation, text)];
}

function validateRule(rule: JsonObject, field: string): FieldError[] {
  const host = textOf(rule["host"]);
  const errors = [
    ...validateNoIp(host, `${field}.host`),
    ...validateText(host, host.includes("*") ? wildcardDnsProblems : dnsSubdomainProblems, `${field}.host`),
  ];
  if (!isPresent(rule["http"])) return errors;
  const paths = objectsOf(fieldsOf(rule["http"])["paths"]);
  if (paths.length === 0) errors.push(fieldError.required(`${field}.http.paths`));
  return [...errors, ...validateEach(paths, (path, at) => validatePath(path, `${field}.http.paths[${at}]`))];
}

function validatePath(path: JsonObject, field: string): FieldError[] {
  const type = path["pathType"];
  if (!isPresent(type)) return [fieldError.required(`${field}.pathType`, "pathType must be specified")];
  return [
    ...validatePathText(textOf(path["path"]), textOf(type), field),
    ...validateBackend(fieldsOf(path["backend"]), `${field}.backend`),
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

function validateBackend({ resource, service }: JsonObject, field: string): FieldError[] {
  if (isPresent(resource) && isPresent(service)) {
    return [fieldError.invalid(field, "", "cannot set both resource and service backends")];
  }
  if (isPresent(resource)) return validateTypedReference(fieldsOf(resource), `${field}.resource`);
  if (isPresent(service)) return validateServiceBackend(fieldsOf(service), field);
  return [fieldError.invalid(field, "", "resource or service backend is required")];
}

function validateServiceBackend(service: JsonObject, field: string): FieldError[] {
  const name = textOf(service["name"]);
  const errors =
    name === ""
      ? [fieldError.required(`${field}.service.name`)]
      : validateText(name, dnsLabel1035Problems, `${field}.service.name`);
  const port = fieldsOf(service["port"]);
  const hasName = textOf(port["name"]) !== "";
  const hasNumber = numberOf(port["number"]) !== 0;
  if (hasName && hasNumber)
    return [...errors, fieldError.invalid(field, "", "cannot set both port name & port number")];
  if (hasName) return [...errors, ...validateText(port["name"], portNameProblems, `${field}.service.port.name`)];
  if (hasNumber) return [...errors, ...validatePortNumber(port["number"], `${field}.service.port.number`)];
  return [...errors, fieldError.required(field, "port name or number is required")];
}

/** `{apiGroup, kind, name}`: an object of any kind, in the same namespace or the cluster. */
export function validateTypedReference(reference: JsonObject, field: string): FieldError[] {
  return [
    ...validateGroup(reference["apiGroup"], `${field}.apiGroup`),
    ...["kind", "name"].flatMap((name) =>
      textOf(reference[name]) === ""
        ? [fieldError.required(`${field}.${name}`)]
        : validateText(reference[name], pathSegmentProblems, `${field}.${name}`),
    ),
  ];
}

/** A group that is given must be one: leaving it out is how the core group is named. */
function validateGroup(group: JsonValue | undefined, field: string): FieldError[] {
  if (!isPresent(group)) return [];
  return dnsSubdomainProblems(textOf(group)).map((problem) => fieldError.invalid(field, group, problem));
}

function validateTls(tls: JsonObject, field: string): FieldError[] {
  return [
    ...validateEach(textsOf(tls["hosts"]), (host, at) =>
      (host.includes("*") ? wildcardDnsProblems : dnsSubdomainProblems)(host).map((problem) =>
        fieldError.invalid(`${field}.hosts[${at}]`, host, problem),
      ),
    ),
    ...validateText(tls["secretName"], dnsSubdomainProblems, `${field}.secretName`),
  ];
}

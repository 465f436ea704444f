import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import { labelKeyErrors, labelValueErrors } from "../../../api/label-syntax.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { validateFullyQualifiedDomainName } from "../../../api/validation/domain-names.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { validateIpOfFamily, validateNonSpecialIp } from "../../../api/validation/ip.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { validateLabels } from "../../../api/validation/labels.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { isPresent, objectsOf, textOf, textsOf, validateRequiredChoice } from "../../../api/validation/fields.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const addressTypes = ["FQDN", "IPv4", "IPv6"];
const protocols = ["SCTP", "TCP", "UDP"];
const endpointsMax = 1000;
const portsMax = 20_000;
const addressesMax = 100;
const topologyLabelsMax = 16;
const hintsMax = 8;

export function validateEndpointSlice(slice: KubeObject): FieldError[] {
  const type = textOf(slice["addressType"] as JsonValue | undefined);
  const endpoints = objectsOf(slice["endpoints"] as JsonValue | undefined);
  const ports = objectsOf(slice["ports"] as JsonValue | undefined);
  return [
    ...validateRequiredChoice(type, addressTypes, "addressType"),
    ...(endpoints.length > endpointsMax
      ? [fieldError.tooMany("endpoints", endpoints.length, endpointsMax)]
      : validateEach(endpoints, (endpoint, at) => validateEndpoint(endpoint, type, `endpoints[${at}]`))),
    ...(ports.length > portsMax
      ? [fieldError.tooMany("ports", ports.length, portsMax)]
      : validatePorts(ports, "ports")),
  ];
}

export function validateEndpointSliceUpdate(slice: KubeObject, old: KubeObject): FieldError[] {
  const [fresh, stored] = [slice, old].map((object) => object["addressType"] as JsonValue | undefined);
  return validateImmutable(fresh, stored, "addressType");
}

function validateEndpoint(endpoint: JsonObject, type: string, field: string): FieldError[] {
  const topology = fieldsOf(endpoint["deprecatedTopology"]);
  const topologySize = Object.keys(topology).length;
  return [
    ...validateAddresses(textsOf(endpoint["addresses"]), type, `${field}.addresses`),
    ...problemsOf(endpoint["nodeName"], dnsSubdomainProblems, `${field}.nodeName`),
    ...(topologySize > topologyLabelsMax
      ? [fieldError.tooMany(`${field}.deprecatedTopology`, topologySize, topologyLabelsMax)]
      : []),
    ...validateLabels(topology as Record<string, string>, `${field}.deprecatedTopology`),
    ...problemsOf(endpoint["hostname"], dnsLabelProblems, `${field}.hostname`),
    ...["forZones", "forNodes"].flatMap((list) =>
      validateHints(objectsOf(fieldsOf(endpoint["hints"])[list]), list, `${field}.hints.${list}`),
    ),
  ];
}

function validateAddresses(addresses: readonly string[], type: string, field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (addresses.length === 0) errors.push(fieldError.required(field, "must contain at least 1 address"));
  else if (addresses.length > addressesMax) errors.push(fieldError.tooMany(field, addresses.length, addressesMax));
  for (const [at, address] of addresses.entries()) {
    if (type === "FQDN") errors.push(...validateFullyQualifiedDomainName(address, `${field}[${at}]`));
    else if (type === "IPv4" || type === "IPv6") {
      errors.push(...validateIpOfFamily(address, type, `${field}[${at}]`));
      errors.push(...validateNonSpecialIp(address, `${field}[${at}]`));
    }
  }
  return errors;
}

function validateHints(hints: readonly JsonObject[], list: string, field: string): FieldError[] {
  if (hints.length > hintsMax) return [fieldError.tooMany(field, hints.length, hintsMax)];
  const problems = list === "forNodes" ? dnsSubdomainProblems : labelValueErrors;
  const seen = new Set<string>();
  return validateEach(hints, (hint, at) => {
    const name = textOf(hint["name"]);
    const path = `${field}[${at}].name`;
    const errors = seen.has(name) ? [fieldError.duplicate(path, name)] : [];
    seen.add(name);
    return [...errors, ...problems(name).map((problem) => fieldError.invalid(path, name, problem))];
  });
}

function validatePorts(ports: readonly JsonObject[], field: string): FieldError[] {
  const seen = new Set<string>();
  return validateEach(ports, (port, at) => {
    const name = textOf(port["name"]);
    const errors = name === "" ? [] : problemsOf(name, dnsLabelProblems, `${field}[${at}].name`);
    if (seen.has(name)) errors.push(fieldError.duplicate(`${field}[${at}].name`, name));
    seen.add(name);
    return [
      ...errors,
      ...validateRequiredChoice(port["protocol"], protocols, `${field}[${at}].protocol`),
      ...problemsOf(port["appProtocol"], labelKeyErrors, `${field}[${at}].appProtocol`),
    ];
  });
}

/** Of a text that is given, be it empty. */
function problemsOf(
  value: JsonValue | undefined,
  problems: (text: string) => readonly string[],
  field: string,
): FieldError[] {
  if (!isPresent(value)) return [];
  return problems(textOf(value)).map((problem) => fieldError.invalid(field, value, problem));
}

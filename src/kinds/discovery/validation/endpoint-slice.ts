import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson } from "../../../api/json.ts";
import { labelKeyErrors, labelValueErrors } from "../../../api/label-syntax.ts";
import type * as discoveryV1 from "../../../api/types/discovery-v1.ts";
import { validateFullyQualifiedDomainName } from "../../../api/validation/domain-names.ts";
import { validateGivenChoice, validateRequiredChoice } from "../../../api/validation/field-rules.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { type IpFamily, parseIp, validateNonSpecialIp } from "../../../api/validation/ip.ts";
import { validateLabels } from "../../../api/validation/labels.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { validateCanonicalIp, validateStrictIp } from "../../../api/validation/strict-ip.ts";
import { validateEach, validateManyInTurns } from "../../../api/validation/validate-each.ts";

const addressTypes = ["FQDN", "IPv4", "IPv6"];
const protocols = ["SCTP", "TCP", "UDP"];
const endpointsMax = 1000;
const portsMax = 20_000;
const addressesMax = 100;
const topologyLabelsMax = 16;
const hintsMax = 8;

export function* validateEndpointSlice(
  slice: discoveryV1.EndpointSlice,
  old?: discoveryV1.EndpointSlice,
): Generator<void, FieldError[]> {
  const { addressType, endpoints, ports } = slice;
  return [
    ...validateRequiredChoice(addressType, addressTypes, "addressType"),
    ...validatePorts(ports ?? [], "ports"),
    // Endpoints that an older version stored stay valid until they are changed.
    ...(old !== undefined && equalJson(endpoints, old.endpoints)
      ? []
      : yield* validateEndpoints(endpoints ?? [], addressType, "endpoints")),
  ];
}

export function validateEndpointSliceUpdate(
  slice: discoveryV1.EndpointSlice,
  old: discoveryV1.EndpointSlice,
): FieldError[] {
  return validateImmutable(slice.addressType, old.addressType, "addressType");
}

function* validateEndpoints(
  endpoints: readonly discoveryV1.Endpoint[],
  type: string,
  field: string,
): Generator<void, FieldError[]> {
  if (endpoints.length > endpointsMax) return [fieldError.tooMany(field, endpoints.length, endpointsMax)];
  return yield* validateManyInTurns(endpoints, (endpoint, at) => validateEndpoint(endpoint, type, `${field}[${at}]`));
}

function validateEndpoint(endpoint: discoveryV1.Endpoint, type: string, field: string): FieldError[] {
  const { addresses, nodeName, hostname, hints = {}, deprecatedTopology: topology = {} } = endpoint;
  const topologySize = Object.keys(topology).length;
  return [
    ...validateAddresses(addresses ?? [], type, `${field}.addresses`),
    ...problemsOf(nodeName, dnsSubdomainProblems, `${field}.nodeName`),
    ...(topologySize > topologyLabelsMax
      ? [fieldError.tooMany(`${field}.deprecatedTopology`, topologySize, topologyLabelsMax)]
      : []),
    ...validateLabels(topology, `${field}.deprecatedTopology`),
    ...problemsOf(hostname, dnsLabelProblems, `${field}.hostname`),
    ...validateHints(hints.forZones ?? [], labelValueErrors, `${field}.hints.forZones`),
    ...((hints.forZones?.length ?? 0) > hintsMax
      ? []
      : validateHints(hints.forNodes ?? [], dnsSubdomainProblems, `${field}.hints.forNodes`)),
  ];
}

function validateAddresses(addresses: readonly string[], type: string, field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (addresses.length === 0) errors.push(fieldError.required(field, "must contain at least 1 address"));
  else if (addresses.length > addressesMax) errors.push(fieldError.tooMany(field, addresses.length, addressesMax));
  const each = validateEach(addresses, (address, at) => {
    if (type === "FQDN") return validateFullyQualifiedDomainName(address, `${field}[${at}]`);
    return type === "IPv4" || type === "IPv6" ? validateAddress(address, at, type, field) : [];
  });
  return [...errors, ...each];
}

/** Rejects an address of the other family at the path of the list, as upstream does. */
function validateAddress(address: string, at: number, family: IpFamily, field: string): FieldError[] {
  const path = `${field}[${at}]`;
  const problems = family === "IPv4" ? validateStrictIp(address, path) : validateCanonicalIp(address, path);
  if (problems.length > 0) return problems;
  const other = parseIp(address)?.family !== family;
  const article = family === "IPv4" ? "an IPv4" : "an IPv6";
  return [
    ...(other ? [fieldError.invalid(field, address, `must be ${article} address`)] : []),
    ...validateNonSpecialIp(address, path),
  ];
}

function validateHints(
  hints: readonly discoveryV1.ForZone[],
  problems: (name: string) => readonly string[],
  field: string,
): FieldError[] {
  if (hints.length > hintsMax) return [fieldError.tooMany(field, hints.length, hintsMax)];
  const seen = new Set<string>();
  return validateEach(hints, ({ name }, at) => {
    const path = `${field}[${at}].name`;
    const errors = seen.has(name) ? [fieldError.duplicate(path, name)] : [];
    seen.add(name);
    return [...errors, ...problems(name).map((problem) => fieldError.invalid(path, name, problem))];
  });
}

function validatePorts(ports: readonly discoveryV1.EndpointPort[], field: string): FieldError[] {
  if (ports.length > portsMax) return [fieldError.tooMany(field, ports.length, portsMax)];
  const seen = new Set<string>();
  return validateEach(ports, ({ name = "", protocol, appProtocol }, at) => {
    const errors = name === "" ? [] : problemsOf(name, dnsLabelProblems, `${field}[${at}].name`);
    if (seen.has(name)) errors.push(fieldError.duplicate(`${field}[${at}].name`, name));
    seen.add(name);
    return [
      ...errors,
      ...validateGivenChoice(protocol, protocols, `${field}[${at}].protocol`),
      ...problemsOf(appProtocol, labelKeyErrors, `${field}[${at}].appProtocol`),
    ];
  });
}

/** Checks a text that is set, even if it is empty. */
function problemsOf(
  text: string | undefined,
  problems: (text: string) => readonly string[],
  field: string,
): FieldError[] {
  if (text === undefined) return [];
  return problems(text).map((problem) => fieldError.invalid(field, text, problem));
}

import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { HostAlias, PodSpec } from "../../../api/types/core-v1.ts";
import { dnsSubdomainProblems, dnsSubdomainUnderscoreProblems } from "../../../api/validation/names.ts";
import { validateStrictIp } from "../../../api/validation/strict-ip.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

/** Limits of the resolvers of the C library. */
const nameserversMax = 3;
const searchesMax = 32;
const searchCharactersMax = 2048;

/** Settings of the pod's resolver. */
export function validateDnsConfig({ dnsPolicy, dnsConfig }: PodSpec, field: string): FieldError[] {
  const { nameservers = [], searches = [], options = [] } = dnsConfig ?? {};
  if (dnsPolicy === "None" && dnsConfig === undefined) {
    return [fieldError.required(field, "must provide `dnsConfig` when `dnsPolicy` is None")];
  }
  if (dnsPolicy === "None" && nameservers.length === 0) {
    const text = "must provide at least one DNS nameserver when `dnsPolicy` is None";
    return [fieldError.required(`${field}.nameservers`, text)];
  }
  return [
    ...validateNameservers(nameservers, `${field}.nameservers`),
    ...validateSearches(searches, `${field}.searches`),
    ...validateEach(options, ({ name = "" }, at) =>
      name === "" ? [fieldError.required(`${field}.options[${at}]`, "must not be empty")] : [],
    ),
  ];
}

/** Names in the hosts file of a pod. */
export function validateHostAliases(aliases: readonly HostAlias[] | undefined, field: string): FieldError[] {
  return validateEach(aliases ?? [], ({ ip, hostnames = [] }, at) => [
    ...validateStrictIp(ip, `${field}[${at}].ip`),
    ...validateEach(hostnames, (name, index) =>
      dnsSubdomainProblems(name).map((problem) =>
        fieldError.invalid(`${field}[${at}].hostnames[${index}]`, name, problem),
      ),
    ),
  ]);
}

function validateNameservers(nameservers: string[], field: string): FieldError[] {
  const text = `must not have more than ${nameserversMax} nameservers`;
  return [
    ...(nameservers.length > nameserversMax ? [fieldError.invalid(field, nameservers, text)] : []),
    ...validateEach(nameservers, (address, at) => validateStrictIp(address, `${field}[${at}]`)),
  ];
}

function validateSearches(searches: string[], field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (searches.length > searchesMax) {
    errors.push(fieldError.invalid(field, searches, `must not have more than ${searchesMax} search paths`));
  }
  if (searches.join(" ").length > searchCharactersMax) {
    const text = `must not have more than ${searchCharactersMax} characters (including spaces) in the search list`;
    errors.push(fieldError.invalid(field, searches, text));
  }
  const problems = validateEach(searches, (search, at) => {
    if (search === ".") return [];
    const domain = search.endsWith(".") ? search.slice(0, -1) : search;
    return dnsSubdomainUnderscoreProblems(domain).map((text) => fieldError.invalid(`${field}[${at}]`, domain, text));
  });
  return [...errors, ...problems];
}

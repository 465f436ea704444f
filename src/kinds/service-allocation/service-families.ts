import { type FieldError, fieldError } from "../../api/field-error.ts";
import type { ServiceSpec } from "../../api/types/core-v1.ts";
import { type IpFamily, parseIp } from "../../api/validation/ip.ts";
import { validateStrictIp } from "../../api/validation/strict-ip.ts";
import { validateEach } from "../../api/validation/validate-each.ts";
import { isHeadless, needsClusterIp, noClusterIp } from "./service.ts";

const families: readonly string[] = ["IPv4", "IPv6"];
const policies = ["PreferDualStack", "RequireDualStack", "SingleStack"];

/**
 * Fills in `ipFamilyPolicy` and `ipFamilies`, which decide what addresses a Service gets.
 * @param configured families of the cluster's service ranges, the default one first
 * @returns the reasons why the Service cannot have the requested families; empty if it can
 */
export function completeFamilies(
  spec: ServiceSpec,
  old: ServiceSpec | undefined,
  configured: readonly IpFamily[],
): readonly FieldError[] {
  if (!needsClusterIp(spec) || keepsPreferredDualStack(spec, old)) return [];
  const isDual = isSelectorlessHeadless(spec);
  spec.ipFamilyPolicy ??= old?.ipFamilyPolicy ?? (isDual ? "RequireDualStack" : "SingleStack");
  const malformed = addressFieldErrors(spec, old);
  if (malformed.length > 0) return malformed;
  if (old !== undefined) dropSecond(spec, old);
  const misfits = [...policyErrors(spec, old), ...inferFamilies(spec, configured)];
  if (misfits.length > 0) return misfits;
  if (isDual) {
    completeHeadless(spec, configured);
    return [];
  }
  const errors = configurationErrors(spec, configured);
  if (errors.length > 0) return errors;
  if ((spec.ipFamilies ?? []).length === 0) spec.ipFamilies = configured.slice(0, 1);
  if (spec.ipFamilyPolicy !== "SingleStack" && configured.length === 2) addOtherFamily(spec);
  return [];
}

/**
 * A PreferDualStack Service is neither upgraded nor downgraded because the cluster has changed: only a change of its
 * policy, addresses or families does that.
 */
export function keepsPreferredDualStack(spec: ServiceSpec, old: ServiceSpec | undefined): boolean {
  if (old === undefined || !needsClusterIp(old)) return false;
  const fields = ["ipFamilyPolicy", "clusterIP", "clusterIPs", "ipFamilies"] as const;
  return (
    old.ipFamilyPolicy === "PreferDualStack" &&
    fields.every((field) => String(spec[field] ?? "") === String(old[field] ?? ""))
  );
}

/** Rules that the address fields of a Service follow together, unless it is an ExternalName. */
export function addressFieldErrors(spec: ServiceSpec, old: ServiceSpec | undefined): readonly FieldError[] {
  const { clusterIP = "", clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = spec;
  const errors = [...syncErrors(clusterIP, clusterIPs), ...familyErrors(ipFamilies)];
  if (ipFamilyPolicy !== undefined && !policies.includes(ipFamilyPolicy)) {
    errors.push(fieldError.notSupported("spec.ipFamilyPolicy", ipFamilyPolicy, policies));
  }
  const invalid = invalidAddresses(clusterIPs, old?.clusterIPs ?? []);
  if (clusterIPs.length > 2) {
    errors.push(fieldError.invalid("spec.clusterIPs", clusterIPs, "may only hold up to 2 values"));
  }
  if (invalid.length > 0) return [...errors, ...invalid];
  const ofAddresses = clusterIPs.map((ip) => parseIp(ip)?.family);
  if (clusterIPs.length > 1 && (clusterIPs.length > 2 || ofAddresses[0] === ofAddresses[1])) {
    const detail = "may specify no more than one IP for each IP family";
    errors.push(fieldError.invalid("spec.clusterIPs", clusterIPs, detail));
  }
  if (errors.length > 0 || isHeadless(spec)) return errors;
  return validateEach(clusterIPs, (ip, at) => {
    const family = ipFamilies[at];
    if (family === undefined || family === ofAddresses[at]) return [];
    const detail = `expected an ${family} value as indicated by \`ipFamilies[${at}]\``;
    return [fieldError.invalid(`spec.clusterIPs[${at}]`, ip, detail)];
  });
}

function syncErrors(clusterIP: string, clusterIPs: string[]): FieldError[] {
  if (clusterIP === "") {
    const detail = "must be empty when `clusterIP` is not specified";
    return clusterIPs.length === 0 ? [] : [fieldError.invalid("spec.clusterIPs", clusterIPs, detail)];
  }
  if (clusterIPs.length === 0) return [fieldError.required("spec.clusterIPs")];
  if (clusterIPs[0] === clusterIP) return [];
  return [fieldError.invalid("spec.clusterIPs", clusterIPs, "first value must match `clusterIP`")];
}

function familyErrors(asked: readonly string[]): FieldError[] {
  const seen = new Set<string>();
  return validateEach(asked, (family, at) => {
    const field = `spec.ipFamilies[${at}]`;
    const errors = families.includes(family) ? [] : [fieldError.notSupported(field, family, families)];
    if (seen.has(family)) errors.push(fieldError.duplicate(field, family));
    seen.add(family);
    return errors;
  });
}

/** @param known addresses that the Service already has, which may be from before the rules became strict */
function invalidAddresses(clusterIPs: string[], known: readonly string[]): FieldError[] {
  return validateEach(clusterIPs, (ip, at) => {
    if (at === 0 && ip === noClusterIp) {
      if (clusterIPs.length === 1) return [];
      return [fieldError.invalid("spec.clusterIPs", clusterIPs, "'None' must be the first and only value")];
    }
    return known.includes(ip) ? [] : validateStrictIp(ip, `spec.clusterIPs[${at}]`);
  });
}

/** SingleStack drops the second address and family where the client has left the lists as they were. */
function dropSecond(spec: ServiceSpec, old: ServiceSpec): void {
  if (spec.ipFamilyPolicy !== "SingleStack") return;
  if (spec.clusterIPs?.length === 2 && String(spec.clusterIPs) === String(old.clusterIPs)) {
    spec.clusterIPs = spec.clusterIPs.slice(0, 1);
  }
  if (spec.ipFamilies?.length === 2 && String(spec.ipFamilies) === String(old.ipFamilies)) {
    spec.ipFamilies = spec.ipFamilies.slice(0, 1);
  }
}

/** Checks that only SingleStack gives up a second address or family, and that it has no second one. */
function policyErrors(spec: ServiceSpec, old: ServiceSpec | undefined): FieldError[] {
  const { ipFamilyPolicy: policy = "", clusterIPs = [], ipFamilies = [] } = spec;
  const problems = [];
  if (policy !== "SingleStack") {
    if (isShorter(clusterIPs, old?.clusterIPs))
      problems.push("must be 'SingleStack' to release the secondary cluster IP");
    if (isShorter(ipFamilies, old?.ipFamilies))
      problems.push("must be 'SingleStack' to release the secondary IP family");
  } else {
    const needed = "must be 'RequireDualStack' or 'PreferDualStack' when multiple";
    if (clusterIPs.length === 2) problems.push(`${needed} cluster IPs are specified`);
    if (ipFamilies.length === 2) problems.push(`${needed} IP families are specified`);
  }
  return problems.map((problem) => fieldError.invalid("spec.ipFamilyPolicy", policy, problem));
}

/** An empty list lets the server choose. */
function isShorter(list: readonly string[], old: readonly string[] = []): boolean {
  return list.length > 0 && list.length < old.length;
}

/** A requested address determines its family. */
function inferFamilies(spec: ServiceSpec, configured: readonly IpFamily[]): FieldError[] {
  const { clusterIPs = [] } = spec;
  const errors: FieldError[] = [];
  for (const [at, ip] of clusterIPs.entries()) {
    const family = parseIp(ip)?.family;
    if (family === undefined || at < (spec.ipFamilies?.length ?? 0)) continue;
    if (configured.includes(family)) spec.ipFamilies = [...(spec.ipFamilies ?? []), family];
    else {
      const detail = `${family} is not configured on this cluster`;
      errors.push(fieldError.invalid(`spec.clusterIPs[${at}]`, clusterIPs, detail));
    }
  }
  return errors;
}

function isSelectorlessHeadless(spec: ServiceSpec): boolean {
  return spec.clusterIP === noClusterIp && Object.keys(spec.selector ?? {}).length === 0;
}

/** Its endpoints are the client's own: both families are fine even where the cluster has one. */
function completeHeadless(spec: ServiceSpec, configured: readonly IpFamily[]): void {
  if ((spec.ipFamilies ?? []).length === 0) spec.ipFamilies = configured.slice(0, 1);
  if (spec.ipFamilyPolicy !== "SingleStack") addOtherFamily(spec);
}

function addOtherFamily(spec: ServiceSpec): void {
  const { ipFamilies = [] } = spec;
  if (ipFamilies.length === 1) spec.ipFamilies = [...ipFamilies, ipFamilies[0] === "IPv4" ? "IPv6" : "IPv4"];
}

function configurationErrors(spec: ServiceSpec, configured: readonly string[]): FieldError[] {
  const errors: FieldError[] = [];
  if (spec.ipFamilyPolicy === "RequireDualStack" && configured.length < 2) {
    const detail = "this cluster is not configured for dual-stack services";
    errors.push(fieldError.invalid("spec.ipFamilyPolicy", spec.ipFamilyPolicy, detail));
  }
  for (const [at, family] of (spec.ipFamilies ?? []).entries()) {
    if (configured.includes(family)) continue;
    errors.push(fieldError.invalid(`spec.ipFamilies[${at}]`, family, "not configured on this cluster"));
  }
  return errors;
}

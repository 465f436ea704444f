import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { Service, ServiceSpec } from "../../../api/types/core-v1.ts";
import { immutableText } from "../../../api/validation/immutable.ts";
import { needsHealthCheckPort } from "../../service-allocation/service.ts";
import { isHeadless, validateBalancerClass } from "./service.ts";

const frozenText = "may not change once set";
/** A Service has one address and one family, or two of each. */
const familiesMax = 2;

/**
 * Rejects other addresses, which are permanent. A second family may be added, and removed with `ipFamilyPolicy:
 * SingleStack`. A change to or from ExternalName may change all of them.
 */
export function validateServiceUpdate({ spec = {} }: Service, { spec: stored = {} }: Service): FieldError[] {
  const isExternal = spec.type === "ExternalName" || stored.type === "ExternalName";
  return [
    ...(isExternal ? [] : [...validateClusterIps(spec, stored), ...validateFamilies(spec, stored)]),
    ...validateClass(spec, stored),
    ...validateHealthCheckPort(spec, stored),
  ];
}

function validateClusterIps(spec: ServiceSpec, stored: ServiceSpec): FieldError[] {
  if (isHeadless(spec) && isHeadless(stored)) return [];
  return validateDualList(spec, stored, { list: "clusterIPs", singular: "clusterIP" });
}

function validateFamilies(spec: ServiceSpec, stored: ServiceSpec): FieldError[] {
  if (isHeadless(spec) || isHeadless(stored)) return [];
  return validateDualList(spec, stored, { list: "ipFamilies", singular: "ipFamily" });
}

function validateDualList(
  spec: ServiceSpec,
  stored: ServiceSpec,
  { list, singular }: { list: "clusterIPs" | "ipFamilies"; singular: string },
): FieldError[] {
  const [values, before] = [spec[list] ?? [], stored[list] ?? []];
  const field = `spec.${list}`;
  if (before.length > 0 && values.length === 0) {
    return [fieldError.invalid(`${field}[0]`, spec[list], `primary ${singular} can not be unset`)];
  }
  const isSameLength = values.length === before.length;
  // Each mistake shows the whole list, and no stored list is longer.
  const compared = before.slice(0, isSameLength ? familiesMax : 1);
  const errors = compared.flatMap((value, at) =>
    value === values[at] ? [] : [fieldError.invalid(`${field}[${at}]`, [...values], frozenText)],
  );
  if (before.length === 2 && values.length === 1 && spec.ipFamilyPolicy !== "SingleStack") {
    const text = `must be set to 'SingleStack' when releasing the secondary ${singular}`;
    errors.push(fieldError.invalid("spec.ipFamilyPolicy", spec.ipFamilyPolicy, text));
  }
  return errors;
}

/** Upstream checks the class again on updates. */
function validateClass(spec: ServiceSpec, stored: ServiceSpec): FieldError[] {
  const { loadBalancerClass: value } = spec;
  const isKept = spec.type === "LoadBalancer" && stored.type === "LoadBalancer";
  const isFrozen = isKept && value !== stored.loadBalancerClass;
  return [
    ...(isFrozen ? [fieldError.invalid("spec.loadBalancerClass", value, frozenText)] : []),
    ...validateBalancerClass(spec),
  ];
}

function validateHealthCheckPort(spec: ServiceSpec, stored: ServiceSpec): FieldError[] {
  const isKept = needsHealthCheckPort(spec) && needsHealthCheckPort(stored);
  if (!isKept || spec.healthCheckNodePort === stored.healthCheckNodePort) return [];
  return [fieldError.forbidden("spec.healthCheckNodePort", immutableText)];
}

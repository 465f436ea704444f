import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type * as networkingV1 from "../../../api/types/networking-v1.ts";
import { validateText } from "../../../api/validation/field-rules.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { dnsSubdomainProblems, pathSegmentProblems } from "../../../api/validation/names.ts";
import { canonicalIpProblem } from "../../../api/validation/strict-ip.ts";

/** An IPAddress is named by the canonical text of its address, so that there is only one for each address. */
export function ipAddressNameProblems(name: string): string[] {
  const problem = canonicalIpProblem(name);
  return problem === undefined ? [] : [problem];
}

export function validateIpAddress({ spec }: networkingV1.IPAddress): FieldError[] {
  const parent = spec?.parentRef;
  const field = "spec.parentRef";
  if (parent === undefined) return [fieldError.required(field)];
  const { group, resource = "", namespace, name = "" } = parent;
  return [
    ...validateText(group, dnsSubdomainProblems, `${field}.group`),
    ...(resource === "" ? [fieldError.required(`${field}.resource`)] : []),
    ...validateText(resource, pathSegmentProblems, `${field}.resource`),
    ...(name === "" ? [fieldError.required(`${field}.name`)] : []),
    ...validateText(name, pathSegmentProblems, `${field}.name`),
    ...validateText(namespace, pathSegmentProblems, `${field}.namespace`),
  ];
}

export function validateIpAddressUpdate(address: networkingV1.IPAddress, old: networkingV1.IPAddress): FieldError[] {
  return validateImmutable(
    address.spec?.parentRef,
    old.spec?.parentRef,
    "spec.parentRef",
    "networking/v1.ParentReference",
  );
}

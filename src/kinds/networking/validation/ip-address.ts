import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { ipText, parseIp } from "../../../api/validation/ip.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { dnsSubdomainProblems, pathSegmentProblems } from "../../../api/validation/names.ts";
import { isPresent, textOf, validateText } from "../../../api/validation/fields.ts";

/** An IPAddress is named by the canonical text of its address, so that there is only one. */
export function ipAddressNameProblems(name: string): string[] {
  const ip = parseIp(name);
  if (ip === undefined) return [ipText];
  return ip.text === name ? [] : [`must be in canonical form (${JSON.stringify(ip.text)})`];
}

export function validateIpAddress(address: KubeObject): FieldError[] {
  const parent = fieldsOf(address["spec"])["parentRef"];
  const field = "spec.parentRef";
  if (!isPresent(parent)) return [fieldError.required(field)];
  const { group, resource, namespace, name } = fieldsOf(parent);
  return [
    ...validateText(group, dnsSubdomainProblems, `${field}.group`),
    ...(textOf(resource) === "" ? [fieldError.required(`${field}.resource`)] : []),
    ...validateText(resource, pathSegmentProblems, `${field}.resource`),
    ...(textOf(name) === "" ? [fieldError.required(`${field}.name`)] : []),
    ...validateText(name, pathSegmentProblems, `${field}.name`),
    ...validateText(namespace, pathSegmentProblems, `${field}.namespace`),
  ];
}

export function validateIpAddressUpdate(address: KubeObject, old: KubeObject): FieldError[] {
  const [fresh, stored] = [fieldsOf(address["spec"]), fieldsOf(old["spec"])];
  return validateImmutable(fresh["parentRef"], stored["parentRef"], "spec.parentRef");
}

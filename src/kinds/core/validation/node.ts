import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson, type JsonObject, type JsonValue } from "../../../api/json.ts";
import { labelKeyErrors, labelValueErrors } from "../../../api/label-syntax.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { parseCidr, validateCidr } from "../../../api/validation/ip.ts";
import { fieldsOf, isZero } from "../../../api/validation/key-values.ts";
import { fieldErrorsMax } from "../../../api/validation/labels.ts";
import { objectsOf, textOf, textsOf, validateRequiredChoice } from "../../../api/validation/fields.ts";
import { validateResourceAmount } from "./resource-requirements.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const taintEffects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const podCidrsMax = 2;

export function validateNode(node: KubeObject): FieldError[] {
  const spec = fieldsOf(node["spec"]);
  return [...validateTaints(objectsOf(spec["taints"])), ...validateResources(node), ...validatePodCidrs(spec)];
}

/** podCIDRs and providerID can be set once. */
export function validateNodeUpdate(node: KubeObject, old: KubeObject): FieldError[] {
  const [fresh, stored] = [fieldsOf(node["spec"]), fieldsOf(old["spec"])];
  const errors = validateAddresses(objectsOf(fieldsOf(node["status"])["addresses"]));
  if (!isEmptyList(stored["podCIDRs"]) && !equalJson(fresh["podCIDRs"] ?? [], stored["podCIDRs"])) {
    errors.push(fieldError.forbidden("spec.podCIDRs", 'node updates may not change podCIDR except from "" to valid'));
  }
  if (!isZero(stored["providerID"]) && fresh["providerID"] !== stored["providerID"]) {
    errors.push(
      fieldError.forbidden("spec.providerID", 'node updates may not change providerID except from "" to valid'),
    );
  }
  return errors;
}

function validateResources(node: KubeObject): FieldError[] {
  const status = fieldsOf(node["status"]);
  return ["capacity", "allocatable"].flatMap((name) => validateAmounts(fieldsOf(status[name]), `status.${name}`));
}

function isEmptyList(value: JsonValue | undefined): boolean {
  return !Array.isArray(value) || value.length === 0;
}

function validateTaints(taints: readonly JsonObject[]): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [at, taint] of taints.entries()) {
    if (errors.length >= fieldErrorsMax) break;
    const field = `metadata.taints[${at}]`;
    const [key, value, effect] = [textOf(taint["key"]), textOf(taint["value"]), textOf(taint["effect"])];
    for (const problem of labelKeyErrors(key)) errors.push(fieldError.invalid(`${field}.key`, key, problem));
    const problems = labelValueErrors(value);
    if (problems.length > 0) errors.push(fieldError.invalid(`${field}.value`, value, problems.join(";")));
    errors.push(...validateRequiredChoice(effect, taintEffects, `${field}.effect`));
    const identity = JSON.stringify([key, effect]);
    if (seen.has(identity)) errors.push(duplicateTaint(taint, field));
    seen.add(identity);
  }
  return errors;
}

function duplicateTaint(taint: JsonObject, field: string): FieldError {
  const error = fieldError.duplicate(field, taint);
  return { ...error, message: `${error.message}: taints must be unique by key and effect pair` };
}

function validatePodCidrs(spec: JsonObject): FieldError[] {
  const cidrs = textsOf(spec["podCIDRs"]);
  const field = "spec.podCIDRs";
  const errors = validateEach(cidrs, (cidr, at) => validateCidr(cidr, `${field}[${at}]`));
  if (cidrs.length < podCidrsMax || errors.length > 0) return errors;
  const families = new Set(cidrs.map((cidr) => parseCidr(cidr)?.family));
  if (cidrs.length === podCidrsMax && families.size === podCidrsMax) return [];
  return [fieldError.invalid(field, cidrs, "may specify no more than one CIDR for each IP family")];
}

function validateAmounts(amounts: JsonObject, field: string): FieldError[] {
  return Object.entries(amounts).flatMap(([name, amount]) => validateResourceAmount(name, amount, `${field}.${name}`));
}

function validateAddresses(addresses: readonly JsonObject[]): FieldError[] {
  const seen = new Set<string>();
  return validateEach(addresses, (address, at) => {
    const identity = JSON.stringify([address["type"], address["address"]]);
    if (seen.has(identity)) return [fieldError.duplicate(`status.addresses[${at}]`, address)];
    seen.add(identity);
    return [];
  });
}

import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson } from "../../../api/json.ts";
import { labelKeyErrors, labelValueErrors } from "../../../api/label-syntax.ts";
import type { Node, NodeAddress, NodeSpec, NodeStatus, ResourceList, Taint } from "../../../api/types/core-v1.ts";
import { validateRequiredChoice } from "../../../api/validation/field-rules.ts";
import { internalForm } from "../../../api/validation/internal-form.ts";
import { parseCidr } from "../../../api/validation/ip.ts";
import { fieldErrorsMax } from "../../../api/validation/labels.ts";
import { validateStrictCidr } from "../../../api/validation/strict-ip.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { validateResourceAmount } from "./resource-requirements.ts";

const taintEffects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const podCidrsMax = 2;
const featureBytesMax = 253;

export function validateNode({ spec = {}, status = {} }: Node): FieldError[] {
  return [
    ...validateTaints(spec.taints ?? []),
    ...validateResources(status),
    ...validateDeclaredFeatures(status.declaredFeatures ?? []),
    ...validatePodCidrs(spec.podCIDRs ?? []),
  ];
}

/** Rejects changes of podCIDRs and providerID, which can be set once. Upstream repeats some of the rules above. */
export function validateNodeUpdate({ spec = {}, status = {} }: Node, old: Node): FieldError[] {
  const stored = old.spec ?? {};
  return [
    ...validateResources(status),
    ...validateDeclaredFeatures(status.declaredFeatures ?? []),
    ...validateAddresses(status.addresses ?? []),
    ...validateFixedFields(spec, stored),
    ...validateTaints(spec.taints ?? []),
    ...((spec.externalID ?? "") === (stored.externalID ?? "")
      ? []
      : [fieldError.forbidden("spec.externalID", "may not be updated")]),
  ];
}

function validateFixedFields(spec: NodeSpec, stored: NodeSpec): FieldError[] {
  const errors: FieldError[] = [];
  if ((stored.podCIDRs ?? []).length > 0 && !equalJson(spec.podCIDRs ?? [], stored.podCIDRs)) {
    errors.push(fieldError.forbidden("spec.podCIDRs", 'node updates may not change podCIDR except from "" to valid'));
  }
  if ((stored.providerID ?? "") !== "" && spec.providerID !== stored.providerID) {
    const text = 'node updates may not change providerID except from "" to valid';
    errors.push(fieldError.forbidden("spec.providerID", text));
  }
  return errors;
}

function validateResources({ capacity = {}, allocatable = {} }: NodeStatus): FieldError[] {
  return [...validateAmounts(capacity, "status.capacity"), ...validateAmounts(allocatable, "status.allocatable")];
}

function validateTaints(taints: readonly Taint[]): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [at, taint] of taints.entries()) {
    if (errors.length >= fieldErrorsMax) break;
    const field = `metadata.taints[${at}]`;
    const { key, value = "", effect } = taint;
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

function duplicateTaint(taint: Taint, field: string): FieldError {
  const error = fieldError.duplicate(field, internalForm(taint, "core/v1.Taint"));
  return { ...error, message: `${error.message}: taints must be unique by key and effect pair` };
}

/** Validates the names of features that a node declares, in order and each once. */
function validateDeclaredFeatures(features: readonly string[]): FieldError[] {
  return validateEach(features, (feature, at) => {
    const field = `status.declaredFeatures[${at}]`;
    const problem = featureProblem(feature);
    const errors = problem === undefined ? [] : [fieldError.invalid(field, feature, problem)];
    const next = features[at + 1];
    const nextField = `status.declaredFeatures[${at + 1}]`;
    if (feature === next) errors.push(fieldError.duplicate(nextField, next));
    else if (next !== undefined && feature > next) {
      errors.push(fieldError.invalid(nextField, next, "list must be sorted alphabetically"));
    }
    return errors;
  });
}

function featureProblem(name: string): string | undefined {
  const title = `invalid feature name ${JSON.stringify(name)}`;
  if (Buffer.byteLength(name) > featureBytesMax) return `${title}: must be no more than ${featureBytesMax} characters`;
  if (/^[A-Z][a-zA-Z0-9]*(?:\/[a-zA-Z][a-zA-Z0-9]*)*$/.test(name)) return undefined;
  return `${title}: must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes`;
}

function validatePodCidrs(cidrs: readonly string[]): FieldError[] {
  const field = "spec.podCIDRs";
  const errors = validateEach(cidrs, (cidr, at) => validateStrictCidr(cidr, `${field}[${at}]`));
  if (cidrs.length < podCidrsMax) return errors;
  const families = cidrs.map((cidr) => parseCidr(cidr)?.family);
  const unknown = families.indexOf(undefined);
  if (unknown !== -1) {
    const problem = `invalid CIDR[${unknown}]: <nil> (invalid CIDR address: ${cidrs[unknown] ?? ""})`;
    errors.push(fieldError.internal(field, `invalid PodCIDRs. failed to check with dual stack with error:${problem}`));
  }
  const isPair = cidrs.length === podCidrsMax && unknown === -1 && families[0] !== families[1];
  if (isPair) return errors;
  return [...errors, fieldError.invalid(field, [...cidrs], "may specify no more than one CIDR for each IP family")];
}

function validateAmounts(amounts: ResourceList, field: string): FieldError[] {
  return Object.entries(amounts).flatMap(([name, amount]) => validateResourceAmount(name, amount, `${field}.${name}`));
}

function validateAddresses(addresses: readonly NodeAddress[]): FieldError[] {
  const seen = new Set<string>();
  return validateEach(addresses, (address, at) => {
    const identity = JSON.stringify([address.type, address.address]);
    if (seen.has(identity)) {
      return [fieldError.duplicate(`status.addresses[${at}]`, internalForm(address, "core/v1.NodeAddress"))];
    }
    seen.add(identity);
    return [];
  });
}

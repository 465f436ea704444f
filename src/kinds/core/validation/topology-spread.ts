import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { TopologySpreadConstraint } from "../../../api/types/core-v1.ts";
import { validatePositive } from "../../../api/validation/field-rules.ts";
import { validateLabelSelector } from "../../../api/validation/label-selector.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { validateMatchLabelKeys } from "./match-label-keys.ts";

const actions = ["DoNotSchedule", "ScheduleAnyway"];
const inclusionPolicies = ["Honor", "Ignore"];

/** Validates how evenly pods spread over the domains of a topology. */
export function validateTopologySpread(constraints: readonly TopologySpreadConstraint[], field: string): FieldError[] {
  const lastOf = new Map(constraints.map((constraint, at) => [identityOf(constraint), at]));
  return validateEach(constraints, (constraint, at) => {
    const item = `${field}[${at}]`;
    const { topologyKey: key, whenUnsatisfiable: action } = constraint;
    const repeated = (lastOf.get(identityOf(constraint)) ?? at) > at;
    return [
      ...validatePositive(constraint.maxSkew, `${item}.maxSkew`),
      ...(key === "" ? [fieldError.required(`${item}.topologyKey`, "can not be empty")] : []),
      ...(actions.includes(action) ? [] : [fieldError.notSupported(`${item}.whenUnsatisfiable`, action, actions)]),
      ...(repeated ? [fieldError.duplicate(`${item}.{topologyKey, whenUnsatisfiable}`, identityOf(constraint))] : []),
      ...validateMinDomains(constraint.minDomains, action, `${item}.minDomains`),
      ...validateInclusion(constraint.nodeAffinityPolicy, `${item}.nodeAffinityPolicy`),
      ...validateInclusion(constraint.nodeTaintsPolicy, `${item}.nodeTaintsPolicy`),
      ...validateMatchLabelKeys(constraint, item),
      ...validateLabelSelector(constraint.labelSelector, `${item}.labelSelector`),
    ];
  });
}

function identityOf({ topologyKey, whenUnsatisfiable }: TopologySpreadConstraint): string {
  return `{${topologyKey}, ${whenUnsatisfiable}}`;
}

function validateMinDomains(count: number | undefined, action: string, field: string): FieldError[] {
  if (count === undefined) return [];
  const errors = validatePositive(count, field);
  if (action === "DoNotSchedule") return errors;
  const text = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`;
  return [...errors, fieldError.invalid(field, count, text)];
}

function validateInclusion(policy: string | undefined, field: string): FieldError[] {
  if (policy === undefined || inclusionPolicies.includes(policy)) return [];
  return [fieldError.notSupported(field, policy, inclusionPolicies)];
}

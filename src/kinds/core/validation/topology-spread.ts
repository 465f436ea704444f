import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import { labelKeyErrors } from "../../../api/label-syntax.ts";
import { isPresent, objectOf, objectsOf, textOf, textsOf } from "../../../api/json-reading.ts";
import { validatePositive } from "../../../api/validation/field-rules.ts";
import { validateLabelSelector } from "../../../api/validation/label-selector.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const actions = ["DoNotSchedule", "ScheduleAnyway"];
const inclusionPolicies = ["Honor", "Ignore"];

/** How evenly pods lie over the domains of a topology. */
export function validateTopologySpread(value: JsonValue | undefined, field: string): FieldError[] {
  const constraints = objectsOf(value);
  const lastOf = new Map(constraints.map((constraint, at) => [identityOf(constraint), at]));
  return validateEach(constraints, (constraint, at) => {
    const item = `${field}[${at}]`;
    const [key, action] = [textOf(constraint["topologyKey"]), textOf(constraint["whenUnsatisfiable"])];
    const repeated = (lastOf.get(identityOf(constraint)) ?? at) > at;
    return [
      ...validatePositive(constraint["maxSkew"], `${item}.maxSkew`),
      ...(key === "" ? [fieldError.required(`${item}.topologyKey`, "can not be empty")] : []),
      ...(actions.includes(action) ? [] : [fieldError.notSupported(`${item}.whenUnsatisfiable`, action, actions)]),
      ...(repeated ? [fieldError.duplicate(`${item}.{topologyKey, whenUnsatisfiable}`, identityOf(constraint))] : []),
      ...validateMinDomains(constraint["minDomains"], action, `${item}.minDomains`),
      ...["nodeAffinityPolicy", "nodeTaintsPolicy"].flatMap((name) =>
        validateInclusion(constraint[name], `${item}.${name}`),
      ),
      ...validateLabelKeys(constraint, `${item}.matchLabelKeys`),
      ...validateLabelSelector(constraint["labelSelector"], `${item}.labelSelector`),
    ];
  });
}

function identityOf(constraint: JsonObject): string {
  return `{${textOf(constraint["topologyKey"])}, ${textOf(constraint["whenUnsatisfiable"])}}`;
}

function validateMinDomains(value: JsonValue | undefined, action: string, field: string): FieldError[] {
  if (!isPresent(value)) return [];
  const errors = validatePositive(value, field);
  if (action === "DoNotSchedule") return errors;
  const text = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`;
  return [...errors, fieldError.invalid(field, value, text)];
}

function validateInclusion(value: JsonValue | undefined, field: string): FieldError[] {
  if (!isPresent(value) || inclusionPolicies.includes(textOf(value))) return [];
  return [fieldError.notSupported(field, value, inclusionPolicies)];
}

function validateLabelKeys(constraint: JsonObject, field: string): FieldError[] {
  const keys = textsOf(constraint["matchLabelKeys"]);
  if (keys.length === 0) return [];
  const selector = constraint["labelSelector"];
  const selected = new Set([
    ...Object.keys(objectOf(objectOf(selector)["matchLabels"])),
    ...objectsOf(objectOf(selector)["matchExpressions"]).map((expression) => textOf(expression["key"])),
  ]);
  return [
    ...(isPresent(selector)
      ? []
      : [fieldError.forbidden(field, "must not be specified when labelSelector is not set")]),
    ...validateEach(keys, (key, at) => [
      ...labelKeyErrors(key).map((problem) => fieldError.invalid(`${field}[${at}]`, key, problem)),
      ...(selected.has(key)
        ? [fieldError.invalid(`${field}[${at}]`, key, "exists in both matchLabelKeys and labelSelector")]
        : []),
    ]),
  ];
}

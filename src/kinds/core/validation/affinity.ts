import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import { labelKeyErrors } from "../../../api/label-syntax.ts";
import { isPresent, numberOf, objectOf, objectsOf, textOf, textsOf } from "../../../api/json-reading.ts";
import { validateLabelSelector } from "../../../api/validation/label-selector.ts";
import { dnsLabelProblems } from "../../../api/validation/names.ts";
import { validateNodeSelector, validateNodeSelectorTerm } from "./node-selector.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const required = "requiredDuringSchedulingIgnoredDuringExecution";
const preferred = "preferredDuringSchedulingIgnoredDuringExecution";
const weightMax = 100;

/** Where a pod has to run, and where it had better run. */
export function validateAffinity(value: JsonValue | undefined, field: string): FieldError[] {
  const affinity = objectOf(value);
  return [
    ...validateNodeAffinity(objectOf(affinity["nodeAffinity"]), `${field}.nodeAffinity`),
    ...["podAffinity", "podAntiAffinity"].flatMap((name) =>
      validatePodAffinity(objectOf(affinity[name]), `${field}.${name}`),
    ),
  ];
}

function validateNodeAffinity(affinity: JsonObject, field: string): FieldError[] {
  const selector = affinity[required];
  return [
    ...(isPresent(selector) ? validateNodeSelector(objectOf(selector), `${field}.${required}`) : []),
    ...validateEach(objectsOf(affinity[preferred]), (term, at) => [
      ...validateWeight(term, `${field}.${preferred}[${at}]`),
      ...validateNodeSelectorTerm(objectOf(term["preference"]), `${field}.${preferred}[${at}].preference`, {
        anyValue: true,
      }),
    ]),
  ];
}

function validatePodAffinity(affinity: JsonObject, field: string): FieldError[] {
  return [
    ...validateEach(objectsOf(affinity[required]), (term, at) => validateTerm(term, `${field}.${required}[${at}]`)),
    ...validateEach(objectsOf(affinity[preferred]), (weighted, at) => [
      ...validateWeight(weighted, `${field}.${preferred}[${at}]`),
      ...validateTerm(objectOf(weighted["podAffinityTerm"]), `${field}.${preferred}[${at}].podAffinityTerm`),
    ]),
  ];
}

function validateWeight(term: JsonObject, field: string): FieldError[] {
  const weight = numberOf(term["weight"]);
  if (weight > 0 && weight <= weightMax) return [];
  return [fieldError.invalid(`${field}.weight`, weight, `must be in the range 1-${weightMax}`)];
}

function validateTerm(term: JsonObject, field: string): FieldError[] {
  const topologyKey = textOf(term["topologyKey"]);
  return [
    ...["labelSelector", "namespaceSelector"].flatMap((name) => validateLabelSelector(term[name], `${field}.${name}`)),
    ...validateEach(textsOf(term["namespaces"]), (name) =>
      dnsLabelProblems(name).map((problem) => fieldError.invalid(`${field}.namespace`, name, problem)),
    ),
    ...validateLabelKeys(term, field),
    ...(topologyKey === "" ? [fieldError.required(`${field}.topologyKey`, "can not be empty")] : []),
    ...labelKeyErrors(topologyKey).map((problem) => fieldError.invalid(`${field}.topologyKey`, topologyKey, problem)),
  ];
}

/** Keys whose values are taken from the pod's own labels. */
function validateLabelKeys(term: JsonObject, field: string): FieldError[] {
  const selector = term["labelSelector"];
  const [matching, mismatching] = [textsOf(term["matchLabelKeys"]), textsOf(term["mismatchLabelKeys"])];
  const excluded = new Set(mismatching);
  return [
    ...validateKeys(matching, selector, `${field}.matchLabelKeys`),
    ...validateKeys(mismatching, selector, `${field}.mismatchLabelKeys`),
    ...validateKeysAgainstSelector(matching, objectOf(selector), field),
    ...validateEach(matching, (key, at) =>
      excluded.has(key)
        ? [
            fieldError.invalid(
              `${field}.matchLabelKeys[${at}]`,
              key,
              "exists in both matchLabelKeys and mismatchLabelKeys",
            ),
          ]
        : [],
    ),
  ];
}

function validateKeys(keys: readonly string[], selector: JsonValue | undefined, field: string): FieldError[] {
  if (keys.length === 0) return [];
  if (!isPresent(selector)) {
    return [fieldError.forbidden(field, "must not be specified when labelSelector is not set")];
  }
  return validateEach(keys, (key, at) =>
    labelKeyErrors(key).map((problem) => fieldError.invalid(`${field}[${at}]`, key, problem)),
  );
}

/** The server has added an expression for each key by now: a second one of that key came from the client. */
function validateKeysAgainstSelector(keys: readonly string[], selector: JsonObject, field: string): FieldError[] {
  const positions = new Map(keys.map((key, at) => [key, at]));
  const seen = new Set(Object.keys(objectOf(selector["matchLabels"])));
  return validateEach(objectsOf(selector["matchExpressions"]), (expression) => {
    const key = textOf(expression["key"]);
    const at = positions.get(key);
    const repeated = at !== undefined && seen.has(key);
    seen.add(key);
    return repeated
      ? [fieldError.invalid(`${field}[${at}]`, key, "exists in both matchLabelKeys and labelSelector")]
      : [];
  });
}

import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { validateLabelSelector } from "../../../api/validation/label-selector.ts";
import { isPresent, objectsOf, textsOf } from "../../../api/validation/fields.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

export function validateRole(role: KubeObject): FieldError[] {
  return validateRules(role, true);
}

export function validateClusterRole(role: KubeObject): FieldError[] {
  return [...validateRules(role, false), ...validateAggregation(role["aggregationRule"] as JsonValue | undefined)];
}

function validateRules(role: KubeObject, namespaced: boolean): FieldError[] {
  return validateEach(objectsOf(role["rules"] as JsonValue | undefined), (rule, at) =>
    validateRule(rule, namespaced, `rules[${at}]`),
  );
}

function validateRule(rule: JsonObject, namespaced: boolean, field: string): FieldError[] {
  const errors: FieldError[] = [];
  const count = (list: string) => textsOf(rule[list]).length;
  if (count("verbs") === 0) errors.push(fieldError.required(`${field}.verbs`, "verbs must contain at least one value"));
  if (count("nonResourceURLs") > 0) {
    const refuse = (text: string) =>
      errors.push(fieldError.invalid(`${field}.nonResourceURLs`, rule["nonResourceURLs"], text));
    if (namespaced) refuse("namespaced rules cannot apply to non-resource URLs");
    if (count("apiGroups") + count("resources") + count("resourceNames") > 0) {
      refuse("rules cannot apply to both regular resources and non-resource URLs");
    }
    return errors;
  }
  if (count("apiGroups") === 0) {
    errors.push(fieldError.required(`${field}.apiGroups`, "resource rules must supply at least one api group"));
  }
  if (count("resources") === 0) {
    errors.push(fieldError.required(`${field}.resources`, "resource rules must supply at least one resource"));
  }
  return errors;
}

function validateAggregation(aggregation: JsonValue | undefined): FieldError[] {
  if (!isPresent(aggregation)) return [];
  const field = "aggregationRule.clusterRoleSelectors";
  const selectors = objectsOf(fieldsOf(aggregation)["clusterRoleSelectors"]);
  if (selectors.length === 0) {
    return [fieldError.required(field, "at least one clusterRoleSelector required if aggregationRule is non-nil")];
  }
  return validateEach(selectors, (selector, at) => validateLabelSelector(selector, `${field}[${at}]`));
}

import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type * as rbacV1 from "../../../api/types/rbac-v1.ts";
import { validateLabelSelector } from "../../../api/validation/label-selector.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

export function validateRole({ rules }: rbacV1.Role): FieldError[] {
  return validateRules(rules ?? [], { namespaced: true });
}

export function validateClusterRole({ rules, aggregationRule }: rbacV1.ClusterRole): FieldError[] {
  return [
    ...validateRules(rules ?? [], { namespaced: false }),
    ...(aggregationRule === undefined ? [] : validateAggregation(aggregationRule)),
  ];
}

function validateRules(rules: readonly rbacV1.PolicyRule[], scope: { readonly namespaced: boolean }): FieldError[] {
  return validateEach(rules, (rule, at) => validateRule(rule, scope.namespaced, `rules[${at}]`));
}

function validateRule(rule: rbacV1.PolicyRule, namespaced: boolean, field: string): FieldError[] {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const errors: FieldError[] = [];
  if ((verbs ?? []).length === 0) {
    errors.push(fieldError.required(`${field}.verbs`, "verbs must contain at least one value"));
  }
  if (nonResourceURLs.length > 0) {
    const refuse = (text: string) => errors.push(fieldError.invalid(`${field}.nonResourceURLs`, nonResourceURLs, text));
    if (namespaced) refuse("namespaced rules cannot apply to non-resource URLs");
    if (apiGroups.length + resources.length + resourceNames.length > 0) {
      refuse("rules cannot apply to both regular resources and non-resource URLs");
    }
    return errors;
  }
  if (apiGroups.length === 0) {
    errors.push(fieldError.required(`${field}.apiGroups`, "resource rules must supply at least one api group"));
  }
  if (resources.length === 0) {
    errors.push(fieldError.required(`${field}.resources`, "resource rules must supply at least one resource"));
  }
  return errors;
}

function validateAggregation({ clusterRoleSelectors: selectors = [] }: rbacV1.AggregationRule): FieldError[] {
  const field = "aggregationRule.clusterRoleSelectors";
  if (selectors.length === 0) {
    return [fieldError.required(field, "at least one clusterRoleSelector required if aggregationRule is non-nil")];
  }
  return validateEach(selectors, (selector, at) => {
    const errors = validateLabelSelector(selector, `${field}[${at}]`);
    // Upstream adds that such a selector cannot be evaluated.
    return errors.length === 0
      ? []
      : [...errors, fieldError.invalid(`${field}[${at}]`, null, "invalid label selector.")];
  });
}

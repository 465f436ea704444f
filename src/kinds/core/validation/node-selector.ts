import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { labelKeyErrors, labelValueErrors } from "../../../api/label-syntax.ts";
import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm } from "../../../api/types/core-v1.ts";
import { dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const notOperatorText = "not a valid selector operator";

/** Validates a node selector. Any of its terms selects a node. */
export function validateNodeSelector({ nodeSelectorTerms }: NodeSelector, field: string): FieldError[] {
  const terms = nodeSelectorTerms ?? [];
  if (terms.length === 0) {
    return [fieldError.required(`${field}.nodeSelectorTerms`, "must have at least one node selector term")];
  }
  return validateEach(terms, (term, at) => validateNodeSelectorTerm(term, `${field}.nodeSelectorTerms[${at}]`));
}

/**
 * Validates a term, whose requirements must all hold.
 * @param options.anyValue whether values need not be valid label values
 */
export function validateNodeSelectorTerm(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  field: string,
  { anyValue = false }: { readonly anyValue?: boolean } = {},
): FieldError[] {
  return [
    ...validateEach(matchExpressions, (requirement, at) =>
      validateLabelRequirement(requirement, anyValue, `${field}.matchExpressions[${at}]`),
    ),
    ...validateEach(matchFields, (requirement, at) =>
      validateFieldRequirement(requirement, `${field}.matchFields[${at}]`),
    ),
  ];
}

function validateLabelRequirement(
  { key, operator, values = [] }: NodeSelectorRequirement,
  anyValue: boolean,
  field: string,
): FieldError[] {
  return [
    ...validateValueCount(operator, values.length, field),
    ...labelKeyErrors(key).map((problem) => fieldError.invalid(`${field}.key`, key, problem)),
    ...validateEach(anyValue ? [] : values, (value, at) =>
      labelValueErrors(value).map((problem) => fieldError.invalid(`${field}.values[${at}]`, value, problem)),
    ),
  ];
}

function validateValueCount(operator: string, count: number, field: string): FieldError[] {
  const path = `${field}.values`;
  switch (operator) {
    case "In":
    case "NotIn":
      return count > 0 ? [] : [fieldError.required(path, "must be specified when `operator` is 'In' or 'NotIn'")];
    case "Exists":
    case "DoesNotExist":
      if (count === 0) return [];
      return [fieldError.forbidden(path, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
    case "Gt":
    case "Lt":
      if (count === 1) return [];
      return [fieldError.required(path, "must be specified single value when `operator` is 'Lt' or 'Gt'")];
    default:
      return [fieldError.invalid(`${field}.operator`, operator, notOperatorText)];
  }
}

/** Validates a requirement for the one field that selects nodes: their name. */
function validateFieldRequirement(
  { key, operator, values = [] }: NodeSelectorRequirement,
  field: string,
): FieldError[] {
  const errors: FieldError[] = [];
  if (operator !== "In" && operator !== "NotIn") {
    errors.push(fieldError.invalid(`${field}.operator`, operator, notOperatorText));
  } else if (values.length !== 1) {
    const text = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    errors.push(fieldError.required(`${field}.values`, text));
  }
  if (key !== "metadata.name") {
    return [...errors, fieldError.invalid(`${field}.key`, key, "not a valid field selector key")];
  }
  const names = validateEach(values, (value, at) =>
    dnsSubdomainProblems(value).map((problem) => fieldError.invalid(`${field}.values[${at}]`, value, problem)),
  );
  return [...errors, ...names];
}

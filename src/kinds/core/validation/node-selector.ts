import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import { labelKeyErrors, labelValueErrors } from "../../../api/label-syntax.ts";
import { objectOf, objectsOf, textOf, textsOf } from "../../../api/json-reading.ts";
import { dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const notOperatorText = "not a valid selector operator";

/** `{nodeSelectorTerms}`: a node is selected by any of the terms. */
export function validateNodeSelector(selector: JsonValue | undefined, field: string): FieldError[] {
  const terms = objectsOf(objectOf(selector)["nodeSelectorTerms"]);
  if (terms.length === 0) {
    return [fieldError.required(`${field}.nodeSelectorTerms`, "must have at least one node selector term")];
  }
  return validateEach(terms, (term, at) => validateNodeSelectorTerm(term, `${field}.nodeSelectorTerms[${at}]`));
}

/**
 * `{matchExpressions, matchFields}`: all of them have to hold.
 * @param options.anyValue the values need not be those of labels
 */
export function validateNodeSelectorTerm(
  term: JsonObject,
  field: string,
  { anyValue = false }: { readonly anyValue?: boolean } = {},
): FieldError[] {
  return [
    ...validateEach(objectsOf(term["matchExpressions"]), (requirement, at) =>
      validateLabelRequirement(requirement, anyValue, `${field}.matchExpressions[${at}]`),
    ),
    ...validateEach(objectsOf(term["matchFields"]), (requirement, at) =>
      validateFieldRequirement(requirement, `${field}.matchFields[${at}]`),
    ),
  ];
}

function validateLabelRequirement(requirement: JsonObject, anyValue: boolean, field: string): FieldError[] {
  const key = textOf(requirement["key"]);
  const values = textsOf(requirement["values"]);
  return [
    ...validateValueCount(requirement["operator"], values.length, field),
    ...labelKeyErrors(key).map((problem) => fieldError.invalid(`${field}.key`, key, problem)),
    ...validateEach(anyValue ? [] : values, (value, at) =>
      labelValueErrors(value).map((problem) => fieldError.invalid(`${field}.values[${at}]`, value, problem)),
    ),
  ];
}

function validateValueCount(operator: JsonValue | undefined, count: number, field: string): FieldError[] {
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
      return [fieldError.invalid(`${field}.operator`, textOf(operator), notOperatorText)];
  }
}

/** Nodes are selected by one field: their name. */
function validateFieldRequirement(requirement: JsonObject, field: string): FieldError[] {
  const { key, operator } = requirement;
  const values = textsOf(requirement["values"]);
  const errors: FieldError[] = [];
  if (operator !== "In" && operator !== "NotIn") {
    errors.push(fieldError.invalid(`${field}.operator`, textOf(operator), notOperatorText));
  } else if (values.length !== 1) {
    const text = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    errors.push(fieldError.required(`${field}.values`, text));
  }
  if (key !== "metadata.name") {
    return [...errors, fieldError.invalid(`${field}.key`, textOf(key), "not a valid field selector key")];
  }
  const names = validateEach(values, (value, at) =>
    dnsSubdomainProblems(value).map((problem) => fieldError.invalid(`${field}.values[${at}]`, value, problem)),
  );
  return [...errors, ...names];
}

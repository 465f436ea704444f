import { type FieldError, fieldError } from "../../api/field-error.ts";
import { labelKeyErrors, labelValueErrors } from "../../api/label-syntax.ts";
import type * as authorizationV1 from "../../api/types/authorization-v1.ts";
import { validateEach } from "../../api/validation/validate-each.ts";

/** One requirement on a field or a label. An operator that is not known may be that of a newer client. */
interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** Validates the selectors of the question of an access review. */
export function validateSelectors(spec: authorizationV1.SelfSubjectAccessReviewSpec): FieldError[] {
  const { fieldSelector, labelSelector } = spec.resourceAttributes ?? {};
  return [
    ...validateSelector(fieldSelector, validateField, "spec.resourceAttributes.fieldSelector"),
    ...validateSelector(labelSelector, validateLabel, "spec.resourceAttributes.labelSelector"),
  ];
}

function validateSelector(
  selector: authorizationV1.FieldSelectorAttributes | undefined,
  validate: (requirement: Requirement, field: string) => FieldError[],
  field: string,
): FieldError[] {
  if (selector === undefined) return [];
  const { rawSelector = "", requirements = [] } = selector;
  const errors: FieldError[] = [];
  if (rawSelector !== "" && requirements.length > 0) {
    const text = "may not specified at the same time as requirements";
    errors.push(fieldError.invalid(`${field}.rawSelector`, rawSelector, text));
  }
  if (rawSelector === "" && requirements.length === 0) {
    const detail = `when ${field} is specified, requirements or rawSelector is required`;
    errors.push(fieldError.required(`${field}.requirements`, detail));
  }
  return [...errors, ...validateEach(requirements, (one, at) => validate(one, `${field}.requirements[${at}]`))];
}

function validateField(requirement: Requirement, field: string): FieldError[] {
  const missing = requirement.key === "" ? [fieldError.required(`${field}.key`, "must be specified")] : [];
  return [...missing, ...validateOperator(requirement, field)];
}

function validateLabel(requirement: Requirement, field: string): FieldError[] {
  const { key, values = [] } = requirement;
  return [
    ...validateOperator(requirement, field),
    ...labelKeyErrors(key).map((problem) => fieldError.invalid(`${field}.key`, key, problem)),
    ...validateEach(values, (value, at) =>
      labelValueErrors(value).map((problem) => fieldError.invalid(`${field}.values[${at}]`, value, problem)),
    ),
  ];
}

function validateOperator({ operator, values = [] }: Requirement, field: string): FieldError[] {
  switch (operator) {
    case "In":
    case "NotIn":
      if (values.length > 0) return [];
      return [fieldError.required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
    case "Exists":
    case "DoesNotExist":
      if (values.length === 0) return [];
      return [
        fieldError.forbidden(`${field}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
      ];
    default:
      return [];
  }
}

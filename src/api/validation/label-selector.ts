import { type FieldError, fieldError } from "../field-error.ts";
import { labelKeyErrors, labelValueErrors } from "../label-syntax.ts";
import type { LabelSelector, LabelSelectorRequirement } from "../types/meta-v1.ts";
import { fieldErrorsMax, validateLabels } from "./labels.ts";
import { validateEach } from "./validate-each.ts";

/** Fields that hold a selector differ in how they show that none is set. */
type Selector = LabelSelector | null | undefined;

/** Validates `{matchLabels, matchExpressions}`; an absent selector passes. */
export function validateLabelSelector(selector: Selector, field: string): FieldError[] {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  return [
    ...validateLabels(matchLabels, `${field}.matchLabels`),
    ...validateEach(matchExpressions, (expression, at) =>
      validateRequirement(expression, `${field}.matchExpressions[${at}]`),
    ),
  ].slice(0, fieldErrorsMax);
}

/** Returns a selector as errors show it: with the keys of maps in order. */
export function shownSelector(selector: Selector): Selector {
  if (selector?.matchLabels === undefined) return selector;
  const { matchLabels, ...rest } = selector;
  const sorted = Object.entries(matchLabels).sort(([one], [other]) => (one < other ? -1 : 1));
  return { matchLabels: Object.fromEntries(sorted), ...rest };
}

/** Reports whether a selector has no requirements and selects everything. */
export function isEmptySelector(selector: Selector): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  return Object.keys(matchLabels).length + matchExpressions.length === 0;
}

function validateRequirement({ key, operator, values = [] }: LabelSelectorRequirement, field: string): FieldError[] {
  return [
    ...validateOperator(operator, values.length, field),
    ...labelKeyErrors(key).map((problem) => fieldError.invalid(`${field}.key`, key, problem)),
    ...validateEach(values, (text, at) =>
      labelValueErrors(text).map((problem) => fieldError.invalid(`${field}.values[${at}]`, text, problem)),
    ),
  ];
}

function validateOperator(operator: string, valueCount: number, field: string): FieldError[] {
  switch (operator) {
    case "In":
    case "NotIn":
      if (valueCount > 0) return [];
      return [fieldError.required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
    case "Exists":
    case "DoesNotExist":
      if (valueCount === 0) return [];
      return [
        fieldError.forbidden(`${field}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
      ];
    default:
      return [fieldError.invalid(`${field}.operator`, operator, "not a valid selector operator")];
  }
}

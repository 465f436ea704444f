import { type FieldError, fieldError } from "../field-error.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { labelKeyErrors, labelValueErrors } from "../label-syntax.ts";
import { objectOf, objectsOf, textOf } from "../json-reading.ts";
import { fieldErrorsMax, validateLabels } from "./labels.ts";
import { validateEach } from "./validate-each.ts";

/** Validates `{matchLabels, matchExpressions}`; an absent selector passes. */
export function validateLabelSelector(selector: JsonValue | undefined, field: string): FieldError[] {
  const { matchLabels, matchExpressions } = objectOf(selector);
  return [
    ...validateLabels(objectOf(matchLabels) as Record<string, string>, `${field}.matchLabels`),
    ...validateEach(objectsOf(matchExpressions), (expression, at) =>
      validateRequirement(expression, `${field}.matchExpressions[${at}]`),
    ),
  ].slice(0, fieldErrorsMax);
}

/** Returns a selector as errors show it: with the keys of maps in order. */
export function shownSelector(selector: JsonValue | undefined): JsonValue | undefined {
  const { matchLabels, ...rest } = objectOf(selector);
  if (!isJsonObject(selector) || !isJsonObject(matchLabels)) return selector;
  const sorted = Object.entries(matchLabels).sort(([one], [other]) => (one < other ? -1 : 1));
  return { matchLabels: Object.fromEntries(sorted), ...rest };
}

/** Reports whether a selector has no requirements and selects everything. */
export function isEmptySelector(selector: JsonValue | undefined): boolean {
  const { matchLabels, matchExpressions } = objectOf(selector);
  return Object.keys(objectOf(matchLabels)).length + objectsOf(matchExpressions).length === 0;
}

function validateRequirement({ key, operator, values }: JsonObject, field: string): FieldError[] {
  const texts = Array.isArray(values) ? values.map(textOf) : [];
  return [
    ...validateOperator(operator, texts.length, field),
    ...labelKeyErrors(textOf(key)).map((problem) => fieldError.invalid(`${field}.key`, textOf(key), problem)),
    ...validateEach(texts, (text, at) =>
      labelValueErrors(text).map((problem) => fieldError.invalid(`${field}.values[${at}]`, text, problem)),
    ),
  ];
}

function validateOperator(operator: JsonValue | undefined, valueCount: number, field: string): FieldError[] {
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
      return [fieldError.invalid(`${field}.operator`, textOf(operator), "not a valid selector operator")];
  }
}

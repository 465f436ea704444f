import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import { matchesLabels } from "../../../api/label-selector.ts";
import { labelSelectorOf } from "../../../api/label-selector-object.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { isEmptySelector, validateLabelSelector } from "../../../api/validation/label-selector.ts";
import { isPresent } from "../../../api/validation/fields.ts";
import { labelsOf } from "../../core/validation/pod-template.ts";

/** The selector of a workload: there is one, and it selects something. @param kind as the error names it */
export function validateWorkloadSelector(selector: JsonValue | undefined, kind: string, field: string): FieldError[] {
  if (!isPresent(selector)) return [fieldError.required(field)];
  const errors = validateLabelSelector(selector, field);
  if (!isEmptySelector(selector)) return errors;
  return [...errors, fieldError.invalid(field, selector, `empty selector is invalid for ${kind}`)];
}

/** A workload selects the pods that it makes; otherwise it would make them for ever. */
export function validateSelectsTemplate(
  selector: JsonValue | undefined,
  template: JsonValue | undefined,
  field: string,
): FieldError[] {
  const labels = labelsOf(fieldsOf(template));
  const parsed = labelSelectorOf(selector);
  // Without a selector nothing is selected.
  const selects = isPresent(selector) && (parsed === undefined || matchesLabels(parsed, labels));
  return selects ? [] : [mismatch(labels, field)];
}

/** The same for a selector that is a map of labels. */
export function validateMapSelectsTemplate(
  selector: JsonObject,
  template: JsonValue | undefined,
  field: string,
): FieldError[] {
  const labels = labelsOf(fieldsOf(template));
  const matches = Object.entries(selector).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value);
  return matches ? [] : [mismatch(labels, field)];
}

function mismatch(labels: Readonly<Record<string, string>>, field: string): FieldError {
  const entries = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  const shown = entries.length === 0 ? null : Object.fromEntries(entries);
  return fieldError.invalid(`${field}.metadata.labels`, shown, "`selector` does not match template `labels`");
}

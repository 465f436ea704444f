import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { matchesLabels } from "../../../api/label-selector.ts";
import { labelSelectorOf } from "../../../api/label-selector-object.ts";
import { isGivenEmpty } from "../../../api/schema/given-empty.ts";
import type { PodTemplateSpec } from "../../../api/types/core-v1.ts";
import type { LabelSelector } from "../../../api/types/meta-v1.ts";
import { isEmptySelector, validateLabelSelector } from "../../../api/validation/label-selector.ts";

type Labels = Readonly<Record<string, string>>;

/** Requires a selector that selects something. @param kind as the error names it */
export function validateWorkloadSelector(selector: LabelSelector | null, kind: string, field: string): FieldError[] {
  if (selector === null) return [fieldError.required(field)];
  const errors = validateLabelSelector(selector, field);
  if (!isEmptySelector(selector)) return errors;
  return [...errors, fieldError.invalid(field, selector, `empty selector is invalid for ${kind}`)];
}

/** Rejects a workload that does not select the pods that it makes: it would make them for ever. */
export function validateSelectsTemplate(
  selector: LabelSelector | null,
  template: PodTemplateSpec | undefined,
  field: string,
): FieldError[] {
  const parsed = labelSelectorOf(selector ?? undefined);
  // A selector that cannot be evaluated has errors of its own; without one nothing is selected.
  if (parsed === undefined) return [];
  const selects = selector !== null && matchesLabels(parsed, template?.metadata?.labels ?? {});
  return selects ? [] : [mismatch(template, field)];
}

/** The same for a selector that is a map of labels. */
export function validateMapSelectsTemplate(selector: Labels, template: PodTemplateSpec, field: string): FieldError[] {
  const labels = template.metadata?.labels ?? {};
  const matches = Object.entries(selector).every(([key, value]) => hasLabel(labels, key, value));
  return matches ? [] : [mismatch(template, field)];
}

function hasLabel(labels: Labels, key: string, value: string): boolean {
  return Object.hasOwn(labels, key) && labels[key] === value;
}

function mismatch(template: PodTemplateSpec | undefined, field: string): FieldError {
  const metadata = template?.metadata;
  const text = "`selector` does not match template `labels`";
  const isUnset = metadata?.labels === undefined && !isGivenEmpty(metadata, "labels");
  return fieldError.invalid(`${field}.metadata.labels`, isUnset ? null : sortedLabels(metadata?.labels ?? {}), text);
}

/** Returns labels as errors show them. */
export function sortedLabels(labels: Labels): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
}

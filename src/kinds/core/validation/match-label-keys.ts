import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { labelKeyErrors } from "../../../api/label-syntax.ts";
import type { PodAffinityTerm } from "../../../api/types/core-v1.ts";
import type { LabelSelector } from "../../../api/types/meta-v1.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

/** The part that terms of affinity and constraints of spreading have in common. */
export type LabelKeysTerm = Pick<PodAffinityTerm, "labelSelector" | "matchLabelKeys" | "mismatchLabelKeys">;

/** Validates the keys whose values are taken from the pod's own labels. */
export function validateMatchLabelKeys(term: LabelKeysTerm, field: string): FieldError[] {
  const { labelSelector: selector, matchLabelKeys: matching = [], mismatchLabelKeys: mismatching = [] } = term;
  const excluded = new Set(mismatching);
  const text = "exists in both matchLabelKeys and mismatchLabelKeys";
  return [
    ...validateKeys(matching, selector, `${field}.matchLabelKeys`),
    ...validateKeys(mismatching, selector, `${field}.mismatchLabelKeys`),
    ...validateKeysAgainstSelector(matching, selector ?? {}, field),
    ...validateEach(matching, (key, at) =>
      excluded.has(key) ? [fieldError.invalid(`${field}.matchLabelKeys[${at}]`, key, text)] : [],
    ),
  ];
}

function validateKeys(keys: readonly string[], selector: LabelSelector | undefined, field: string): FieldError[] {
  if (keys.length === 0) return [];
  if (selector === undefined) {
    return [fieldError.forbidden(field, "must not be specified when labelSelector is not set")];
  }
  return validateEach(keys, (key, at) =>
    labelKeyErrors(key).map((problem) => fieldError.invalid(`${field}[${at}]`, key, problem)),
  );
}

/** Rejects a second expression for a key. The server has added one for each, so another came from the client. */
function validateKeysAgainstSelector(
  keys: readonly string[],
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
  field: string,
): FieldError[] {
  const positions = new Map(keys.map((key, at) => [key, at]));
  const seen = new Set(Object.keys(matchLabels));
  return validateEach(matchExpressions, ({ key }) => {
    const at = positions.get(key);
    const repeated = at !== undefined && seen.has(key);
    seen.add(key);
    return repeated
      ? [fieldError.invalid(`${field}[${at}]`, key, "exists in both matchLabelKeys and labelSelector")]
      : [];
  });
}

import { type FieldError, fieldError } from "../field-error.ts";
import { dnsLabel1035Problems } from "./names.ts";
import { validateEach } from "./validate-each.ts";

/** Versions of AdmissionReview and ConversionReview that a server speaks. */
export const reviewVersions: readonly string[] = ["v1", "v1beta1"];

export function hasKnownReviewVersion(versions: readonly string[]): boolean {
  return versions.some((version) => reviewVersions.includes(version));
}

export interface ReviewVersionRules {
  /** Message for an empty list. */
  readonly requiredText: string;
  /** Requires at least one version that the server speaks. */
  readonly needsKnown: boolean;
}

/** Validates the review versions that a webhook accepts, in order of preference. */
export function validateReviewVersions(
  versions: readonly string[],
  { requiredText, needsKnown }: ReviewVersionRules,
  field: string,
): FieldError[] {
  if (versions.length === 0) return [fieldError.required(field, requiredText)];
  const seen = new Set<string>();
  const errors = validateEach(versions, (version, at) => {
    if (seen.has(version)) return [fieldError.invalid(`${field}[${at}]`, version, "duplicate version")];
    seen.add(version);
    const problems = dnsLabel1035Problems(version);
    return problems.map((problem) => fieldError.invalid(`${field}[${at}]`, version, problem));
  });
  if (!needsKnown || hasKnownReviewVersion(versions)) return errors;
  const text = `must include at least one of ${reviewVersions.join(", ")}`;
  return [...errors, fieldError.invalid(field, [...versions], text)];
}

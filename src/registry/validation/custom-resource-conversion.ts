import { type FieldError, fieldError } from "../../api/field-error.ts";
import type { JsonValue } from "../../api/json.ts";
import { fieldsOf } from "./key-values.ts";
import { dnsLabel1035Problems } from "./names.ts";
import { isPresent, textsOf, validateRequiredChoice } from "./pod-fields.ts";
import { validateWebhookClient } from "./webhook-client.ts";

const strategies = ["None", "Webhook"];
const reviewVersions = ["v1", "v1beta1"];

/** How objects get from one version to another. Paths are those of upstream's own form of the definition. */
export function validateCustomResourceConversion(
  value: JsonValue | undefined,
  old: JsonValue | undefined,
  field: string,
): FieldError[] {
  if (!isPresent(value)) return [];
  const { strategy, webhook } = fieldsOf(value);
  const { clientConfig } = fieldsOf(webhook);
  const versions = reviewVersionsOf(value);
  const errors = validateRequiredChoice(strategy, strategies, `${field}.strategy`);
  const notWebhook = "should not be set when strategy is not set to Webhook";
  if (strategy !== "Webhook") {
    if (isPresent(clientConfig)) errors.push(fieldError.forbidden(`${field}.webhookClientConfig`, notWebhook));
    if (versions.length > 0) errors.push(fieldError.forbidden(`${field}.conversionReviewVersions`, notWebhook));
    return errors;
  }
  if (isPresent(clientConfig)) {
    errors.push(...validateWebhookClient(fieldsOf(clientConfig), `${field}.webhookClientConfig`));
  } else {
    errors.push(fieldError.required(`${field}.webhookClientConfig`, "required when strategy is set to Webhook"));
  }
  const before = reviewVersionsOf(old);
  const needsKnown = before.length === 0 || hasKnown(before);
  return [...errors, ...validateReviewVersions(versions, needsKnown, `${field}.conversionReviewVersions`)];
}

function reviewVersionsOf(conversion: JsonValue | undefined): string[] {
  return textsOf(fieldsOf(fieldsOf(conversion)["webhook"])["conversionReviewVersions"]);
}

function hasKnown(versions: readonly string[]): boolean {
  return versions.some((version) => reviewVersions.includes(version));
}

function validateReviewVersions(versions: readonly string[], needsKnown: boolean, field: string): FieldError[] {
  if (versions.length === 0) return [fieldError.required(field)];
  const seen = new Set<string>();
  const errors = versions.flatMap((version, at) => {
    if (seen.has(version)) return [fieldError.invalid(`${field}[${at}]`, version, "duplicate version")];
    seen.add(version);
    const problems = dnsLabel1035Problems(version);
    return problems.map((problem) => fieldError.invalid(`${field}[${at}]`, version, problem));
  });
  if (!needsKnown || hasKnown(versions)) return errors;
  const text = `must include at least one of ${reviewVersions.join(", ")}`;
  return [...errors, fieldError.invalid(field, [...versions], text)];
}

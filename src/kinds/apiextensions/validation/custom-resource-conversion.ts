import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonValue } from "../../../api/json.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { isPresent, textsOf, validateRequiredChoice } from "../../../api/validation/fields.ts";
import { hasKnownReviewVersion, validateReviewVersions } from "../../../api/validation/review-versions.ts";
import { validateWebhookClient } from "../../../api/validation/webhook-client.ts";

const strategies = ["None", "Webhook"];

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
  const needsKnown = before.length === 0 || hasKnownReviewVersion(before);
  return [
    ...errors,
    ...validateReviewVersions(versions, { requiredText: "", needsKnown }, `${field}.conversionReviewVersions`),
  ];
}

function reviewVersionsOf(conversion: JsonValue | undefined): string[] {
  return textsOf(fieldsOf(fieldsOf(conversion)["webhook"])["conversionReviewVersions"]);
}

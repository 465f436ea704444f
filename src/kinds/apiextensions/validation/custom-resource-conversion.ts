import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { objectOf } from "../../../api/json-reading.ts";
import type { CustomResourceConversion } from "../../../api/types/apiextensions-v1.ts";
import { validateRequiredChoice } from "../../../api/validation/field-rules.ts";
import { hasKnownReviewVersion, validateReviewVersions } from "../../../api/validation/review-versions.ts";
import { validateWebhookClient } from "../../../api/validation/webhook-client.ts";
import { validateCaBundle } from "./ca-bundle.ts";

const strategies = ["None", "Webhook"];
const notWebhook = "should not be set when strategy is not set to Webhook";

/** Checks how objects get from one version to another. Paths are those of upstream's internal form. */
export function validateCustomResourceConversion(
  conversion: CustomResourceConversion,
  old: CustomResourceConversion | undefined,
  allowsBadBundle: boolean,
  field: string,
): FieldError[] {
  const { strategy, webhook } = conversion;
  const clientConfig = webhook?.clientConfig;
  const versions = webhook?.conversionReviewVersions ?? [];
  const errors = validateRequiredChoice(strategy, strategies, `${field}.strategy`);
  if (strategy !== "Webhook") {
    if (clientConfig !== undefined) errors.push(fieldError.forbidden(`${field}.webhookClientConfig`, notWebhook));
    if (versions.length > 0) errors.push(fieldError.forbidden(`${field}.conversionReviewVersions`, notWebhook));
    return errors;
  }
  if (clientConfig === undefined) {
    errors.push(fieldError.required(`${field}.webhookClientConfig`, "required when strategy is set to Webhook"));
  } else {
    const place = `${field}.webhookClientConfig`;
    errors.push(...validateWebhookClient(objectOf(clientConfig), place));
    const { caBundle = "" } = clientConfig;
    if (caBundle !== "" && !allowsBadBundle) errors.push(...validateCaBundle(caBundle, `${place}.caBundle`));
  }
  const before = old?.webhook?.conversionReviewVersions ?? [];
  const needsKnown = before.length === 0 || hasKnownReviewVersion(before);
  return [
    ...errors,
    ...validateReviewVersions(versions, { requiredText: "", needsKnown }, `${field}.conversionReviewVersions`),
  ];
}

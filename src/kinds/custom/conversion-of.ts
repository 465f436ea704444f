import { type ConvertVersions, convertNothing } from "./custom-converter.ts";
import type { CustomDefinition } from "./definition.ts";
import { type WebhookConversionParts, webhookConversion } from "./webhook-conversion.ts";

/** Returns the conversion that `spec.conversion` of a definition configures. */
export function conversionOf(
  { conversion, group, names }: CustomDefinition,
  parts: Pick<WebhookConversionParts, "clients" | "observe">,
): ConvertVersions {
  if (conversion?.strategy !== "Webhook") return convertNothing;
  const { clientConfig = {}, conversionReviewVersions } = conversion.webhook ?? {};
  return webhookConversion({
    ...parts,
    definition: `${names.plural}.${group}`,
    clientConfig: clientConfig,
    reviewVersions: conversionReviewVersions ?? [],
  });
}

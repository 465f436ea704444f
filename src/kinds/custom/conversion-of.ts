import type { WebhookClientConfig } from "../../api/types/admissionregistration-v1.ts";
import { textsOf } from "../../api/validation/fields.ts";
import { fieldsOf } from "../../api/validation/key-values.ts";
import type { WebhookFinder } from "../../client/webhook/webhook-client.ts";
import { type ConvertVersions, convertNothing } from "./custom-converter.ts";
import type { CustomDefinition } from "./definition.ts";
import { webhookConversion } from "./webhook-conversion.ts";

/** Returns the conversion between the versions of a definition. */
export function conversionOf({ conversion }: CustomDefinition, clients: WebhookFinder): ConvertVersions {
  if (conversion["strategy"] !== "Webhook") return convertNothing;
  const webhook = fieldsOf(conversion["webhook"]);
  return webhookConversion({
    clients,
    clientConfig: fieldsOf(webhook["clientConfig"]) as WebhookClientConfig,
    reviewVersions: textsOf(webhook["conversionReviewVersions"]),
  });
}

import { objectsOf } from "../../api/json-reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { staticNameWarnings } from "./static-names.ts";
import { validateWebhookConfiguration, type WebhookConfiguration } from "./validation/webhook-configuration.ts";

/** The rules of mutating and of validating webhooks. */
export const webhookConfigurationStrategy: Strategy<WebhookConfiguration> = {
  ...defaultStrategy,
  metaRules: "whole",
  allowsBareFinalizers: true,
  coversSchema: true,
  allowUnconditionalUpdate: false,
  generationFields: ["webhooks"],
  validate: validateWebhookConfiguration,
  warnings: staticNameWarnings,
};

/** Configurations of mutating and of validating webhooks. */
export function webhookConfigurationCells(configuration: JsonObject): Cells {
  return { Webhooks: objectsOf(configuration["webhooks"]).length };
}

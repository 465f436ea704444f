import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateWebhookConfiguration } from "./validation/webhook-configuration.ts";

/** Of mutating and validating webhooks. */
export const webhookConfigurationStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  allowUnconditionalUpdate: false,
  generationFields: ["webhooks"],
  validate: validateWebhookConfiguration,
};

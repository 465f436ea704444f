import type { Cells } from "../../api/codec/table/table-rules.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import { examineInTurns } from "../../registry/examine-in-turns.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { staticNameWarnings } from "./static-names.ts";
import { validateWebhookConfiguration, type WebhookConfiguration } from "./validation/webhook-configuration.ts";
import type { RuleWithOperations } from "../../api/types/admissionregistration-v1.ts";

/** The rules of mutating and of validating webhooks. */
export const webhookConfigurationStrategy: Strategy<WebhookConfiguration> = {
  ...defaultStrategy,
  metaRules: "whole",
  allowsBareFinalizers: true,
  coversSchema: true,
  allowUnconditionalUpdate: false,
  generationFields: ["webhooks"],
  examine: examineInTurns(validateWebhookConfiguration),
  warnings: staticNameWarnings,
};

/** Configurations of mutating and of validating webhooks. */
export function webhookConfigurationCells({ webhooks = [] }: WebhookConfiguration): Cells {
  return { Webhooks: webhooks.length };
}

/** Rules apply to objects with and without a namespace by default. */
export function defaultWebhookRule(rule: RuleWithOperations): void {
  rule.scope ??= "*";
}

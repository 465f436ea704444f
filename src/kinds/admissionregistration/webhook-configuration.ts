import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { RuleWithOperations } from "../../api/types/admissionregistration-v1.ts";
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
  countsEmptyFields: true,
  validateInTurns: validateWebhookConfiguration,
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

/** Texts for `kubectl explain` about the fields that both kinds of webhooks have. */
export const webhookDescriptions = {
  name: "Full name of the webhook.",
  clientConfig: "Address of the webhook.",
  rules: "Requests that it is called for.",
  failurePolicy: "Effect when the webhook cannot be reached: Fail or Ignore.",
  matchPolicy: "Exact, or Equivalent: requests of other versions are converted.",
  namespaceSelector: "Selects namespaces by their labels.",
  objectSelector: "Selects objects by their labels.",
  sideEffects: "None or NoneOnDryRun.",
  timeoutSeconds: "Time for the answer in seconds; 10 by default.",
  admissionReviewVersions: "Versions of the request that it understands, the best first.",
  matchConditions: "Expressions that all have to be true.",
} as const;

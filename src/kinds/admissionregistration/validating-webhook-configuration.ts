import { builtInKind, stored } from "../../registry/kind.ts";
import {
  defaultWebhookRule,
  webhookConfigurationCells,
  webhookConfigurationStrategy,
  webhookDescriptions,
} from "./webhook-configuration.ts";

export const validatingWebhookConfiguration = builtInKind(
  "validatingwebhookconfigurations.admissionregistration.k8s.io",
  {
    endpoint: stored(webhookConfigurationStrategy),
    table: { cells: webhookConfigurationCells },
    defaults: {
      "admissionregistration/v1.RuleWithOperations": defaultWebhookRule,
    },
    descriptions: {
      "admissionregistration/v1.ValidatingWebhook": {
        "": "A webhook that may refuse objects.",
        ...webhookDescriptions,
      },
      "admissionregistration/v1.ValidatingWebhookConfiguration": {
        "": "Webhooks that may refuse objects before they are stored.",
        webhooks: "The webhooks.",
      },
    },
  },
);

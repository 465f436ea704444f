import { builtInKind, stored } from "../../registry/kind.ts";
import {
  defaultWebhookRule,
  webhookConfigurationCells,
  webhookConfigurationStrategy,
  webhookDescriptions,
} from "./webhook-configuration.ts";

export const mutatingWebhookConfiguration = builtInKind("mutatingwebhookconfigurations.admissionregistration.k8s.io", {
  endpoint: stored(webhookConfigurationStrategy),
  table: { cells: webhookConfigurationCells },
  defaults: {
    "admissionregistration/v1.RuleWithOperations": defaultWebhookRule,
  },
  descriptions: {
    "admissionregistration/v1.MutatingWebhook": {
      "": "A webhook that may change objects.",
      ...webhookDescriptions,
      reinvocationPolicy: "Never, or IfNeeded: again when others have changed the object.",
    },
    "admissionregistration/v1.MutatingWebhookConfiguration": {
      "": "Webhooks that may change objects before they are stored.",
      webhooks: "The webhooks.",
    },
  },
});

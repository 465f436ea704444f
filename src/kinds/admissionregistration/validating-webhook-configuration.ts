import { builtInKind, stored } from "../../registry/kind.ts";
import { webhookConfigurationStrategy, webhookConfigurationCells } from "./webhook-configuration.ts";

export const validatingWebhookConfiguration = builtInKind(
  "validatingwebhookconfigurations.admissionregistration.k8s.io",
  {
    endpoint: stored(webhookConfigurationStrategy),
    table: { cells: webhookConfigurationCells },
  },
);

import { builtInKind, stored } from "../../registry/kind.ts";
import { webhookConfigurationStrategy, webhookConfigurationCells } from "./webhook-configuration.ts";

export const mutatingWebhookConfiguration = builtInKind("mutatingwebhookconfigurations.admissionregistration.k8s.io", {
  endpoint: stored(webhookConfigurationStrategy),
  table: { cells: webhookConfigurationCells },
});

import { builtInKind, stored } from "../../registry/kind.ts";
import { webhookConfigurationStrategy, webhookConfigurationCells } from "./webhook-configuration.ts";
import { defaultAdmissionRule } from "./defaults/admission-rule.ts";

export const mutatingWebhookConfiguration = builtInKind("mutatingwebhookconfigurations.admissionregistration.k8s.io", {
  endpoint: stored(webhookConfigurationStrategy),
  table: { cells: webhookConfigurationCells },
  defaults: {
    "admissionregistration/v1.RuleWithOperations": defaultAdmissionRule,
  },
});

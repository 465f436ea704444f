import { builtInKind, stored } from "../../registry/kind.ts";
import {
  defaultWebhookRule,
  webhookConfigurationStrategy,
  webhookConfigurationCells,
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
        name: "Full name of the webhook.",
        clientConfig: "Address of the webhook.",
        rules: "Requests that it hears of.",
        failurePolicy: "Effect when the webhook cannot be reached: Fail or Ignore.",
        matchPolicy: "Exact, or Equivalent: requests of other versions are converted.",
        namespaceSelector: "Labels of the namespaces that come into question.",
        objectSelector: "Labels of the objects that come into question.",
        sideEffects: "None or NoneOnDryRun.",
        timeoutSeconds: "Time for the answer in seconds; 10 by default.",
        admissionReviewVersions: "Versions of the request that it understands, the best first.",
        matchConditions: "Expressions that all have to be true.",
      },
      "admissionregistration/v1.ValidatingWebhookConfiguration": {
        "": "Webhooks that may refuse objects before they are stored.",
        webhooks: "The webhooks.",
      },
    },
  },
);

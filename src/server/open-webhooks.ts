import type { WebhookObserver } from "../admission/webhook/webhook-observer.ts";
import type { WebhookParts } from "../admission/webhook/webhook-plugins.ts";
import type { ServiceResolver } from "../client/service-endpoints.ts";
import { WebhookClients } from "../client/webhook/webhook-client.ts";
import { kubeconfigWebhookCredentials, noWebhookCredentials } from "../client/webhook/webhook-credentials.ts";
import type { WebhookConversionParts } from "../kinds/custom/webhook-conversion.ts";
import { StartupError } from "../process/startup-error.ts";
import type { Registries } from "../registry/registries.ts";
import { recordCircuitChange } from "./circuit-events.ts";
import type { ServerConfig } from "./config/server-options.ts";
import type { CountConditions } from "./metrics/condition-metrics.ts";
import type { Metrics } from "./metrics/metrics.ts";
import { conversionMetrics, webhookMetrics } from "./metrics/webhook-metrics.ts";

/** The clients of all webhooks that API objects name. */
export interface ServerWebhooks {
  readonly mutating: WebhookParts;
  readonly validating: WebhookParts;
  /** For the conversion of custom resources. It sends no credentials to its webhooks. */
  readonly conversion: Pick<WebhookConversionParts, "clients" | "observe">;
}

export interface ServerWebhooksParts {
  readonly config: ServerConfig;
  readonly registries: () => Registries;
  readonly resolve: ServiceResolver;
  readonly metrics: Pick<Metrics, "registry" | "sentRequest">;
  readonly countConditions: CountConditions;
  readonly onError: (error: unknown) => void;
}

/** @throws StartupError for a kubeconfig that is not readable */
export function openWebhooks(parts: ServerWebhooksParts): ServerWebhooks {
  const { config } = parts;
  const { resolve } = parts;
  const { clock, webhookKubeconfigs } = config;
  const observer = observerOf(parts);
  const onRequest = parts.metrics.sentRequest;
  const partsOf = (kubeconfig: string | undefined): WebhookParts => {
    const credentials = kubeconfig === undefined ? noWebhookCredentials : credentialsOf(kubeconfig, config);
    return {
      clients: new WebhookClients({ clock, resolve, credentials, onRequest }),
      observer,
      breaksCircuits: config.breaksCircuits,
    };
  };
  return {
    mutating: partsOf(webhookKubeconfigs.MutatingAdmissionWebhook),
    validating: partsOf(webhookKubeconfigs.ValidatingAdmissionWebhook),
    conversion: {
      clients: new WebhookClients({ clock, resolve, credentials: noWebhookCredentials, onRequest }),
      observe: conversionMetrics(parts.metrics.registry),
    },
  };
}

function credentialsOf(file: string, { clock }: ServerConfig) {
  try {
    return kubeconfigWebhookCredentials(file, clock);
  } catch (error) {
    throw new StartupError(`--admission-control-config-file: ${(error as Error).message}`);
  }
}

function observerOf({ config, registries, metrics, countConditions, onError }: ServerWebhooksParts): WebhookObserver {
  const counters = webhookMetrics(metrics.registry, countConditions);
  return {
    ...counters,
    circuit(change) {
      counters.circuit(change);
      if (change.state === "forgotten") return;
      const events = registries().find({ group: "", resource: "events" });
      if (events !== undefined) recordCircuitChange(events, config.clock, change).catch(onError);
    },
  };
}

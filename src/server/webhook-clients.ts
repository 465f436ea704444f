import type { Service } from "../api/types/core-v1.ts";
import { clusterAddressResolver } from "../client/service-endpoints.ts";
import { noWebhookCredentials } from "../client/webhook/webhook-credentials.ts";
import { WebhookClients } from "../client/webhook/webhook-client.ts";
import type { Clock } from "../process/clock.ts";
import { CachedObjects } from "../registry/cached-objects.ts";
import type { Registries } from "../registry/registries.ts";

/** Returns the clients of webhooks, which find Services among the stored ones. */
export function openWebhookClients(registries: Registries, clock: Clock): WebhookClients {
  const objects = new CachedObjects((resource) => registries.find(resource));
  const services = { group: "", resource: "services" };
  const resolve = clusterAddressResolver({
    service: (namespace, name) => objects.get(services, namespace, name) as unknown as Service | undefined,
  });
  return new WebhookClients({ clock, resolve, credentials: noWebhookCredentials });
}

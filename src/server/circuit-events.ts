import type { CircuitChange } from "../admission/webhook/webhook-observer.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { formatTime } from "../api/time.ts";
import type { Clock } from "../process/clock.ts";
import type { Registry } from "../registry/registry.ts";
import { serverContext } from "../registry/server-context.ts";

const component = "quorate";
const namespace = "default";
const kinds = { admit: "MutatingWebhookConfiguration", validating: "ValidatingWebhookConfiguration" } as const;

/** Records an Event when a webhook stops answering, and when it answers again. */
export async function recordCircuitChange(events: Registry, clock: Clock, change: CircuitChange): Promise<void> {
  const { configuration, name, type, state } = change;
  const isOpen = state === "open";
  const time = formatTime(clock.nowMs());
  const webhook = JSON.stringify(name);
  const event = {
    kind: "Event",
    apiVersion: "v1",
    metadata: { name: `${configuration}.${crypto.randomUUID()}`, namespace },
    involvedObject: { apiVersion: "admissionregistration.k8s.io/v1", kind: kinds[type], name: configuration },
    type: isOpen ? "Warning" : "Normal",
    reason: isOpen ? "WebhookNotAnswering" : "WebhookAnswering",
    message: isOpen
      ? `The webhook ${webhook} has timed out several times in a row. Until it answers again, its failurePolicy decides requests immediately.`
      : `The webhook ${webhook} answers again.`,
    source: { component },
    reportingComponent: component,
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  };
  await events.create(event as unknown as KubeObject, namespace, serverContext);
}

import type { WebhookFinder } from "../../client/webhook/webhook-client.ts";
import type { Clock } from "../../process/clock.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../../registry/admission.ts";
import type { ObjectLookup } from "../../registry/object-lookup.ts";
import { CircuitBreaker } from "./circuit-breaker.ts";
import { mutatingWebhooks } from "./mutating-webhooks.ts";
import { validatingWebhooks } from "./validating-webhooks.ts";
import { WebhookCaller } from "./webhook-caller.ts";
import { WebhookMatcher, type WebhookMatcherParts } from "./webhook-matcher.ts";
import type { WebhookObserver, WebhookType } from "./webhook-observer.ts";
import type { WebhookDispatch } from "./webhook-outcomes.ts";
import { WebhookSet, type WebhookSetParts } from "./webhook-set.ts";

/** The parts of the server that webhooks need beside those of all plugins. */
export interface WebhookParts {
  readonly clients: WebhookFinder;
  readonly observer: WebhookObserver;
  /** Webhooks that do not answer are not waited for again and again. */
  readonly breaksCircuits: boolean;
}

export interface WebhookPluginParts extends Omit<WebhookMatcherParts, "observer">, WebhookSetParts {
  readonly lookup: ObjectLookup;
  readonly clock: Clock;
  /** Undefined where no webhook can be called. */
  readonly webhooks?: { readonly mutating: WebhookParts; readonly validating: WebhookParts } | undefined;
}

const group = "admissionregistration.k8s.io";

/** Calls the webhooks of MutatingWebhookConfigurations. */
export function mutatingAdmissionWebhook(parts: WebhookPluginParts): AdmissionPlugin {
  const name = "MutatingAdmissionWebhook";
  const { webhooks } = parts;
  if (webhooks === undefined) return { name };
  const dispatch = dispatchOf(parts, webhooks.mutating, "mutatingwebhookconfigurations", "admit");
  return timed({ name, ...mutatingWebhooks(dispatch) });
}

/** Calls the webhooks of ValidatingWebhookConfigurations. */
export function validatingAdmissionWebhook(parts: WebhookPluginParts): AdmissionPlugin {
  const name = "ValidatingAdmissionWebhook";
  const { webhooks } = parts;
  if (webhooks === undefined) return { name };
  const dispatch = dispatchOf(parts, webhooks.validating, "validatingwebhookconfigurations", "validating");
  return timed({ name, ...validatingWebhooks(dispatch) });
}

/** Notes the time of a plugin, which promises about the server's own speed leave out. */
function timed(plugin: AdmissionPlugin): AdmissionPlugin {
  const measured = (step: NonNullable<AdmissionPlugin["admit"]>, attributes: AdmissionAttributes) => {
    const startedMs = performance.now();
    const pending = step(attributes);
    return pending?.finally(() => attributes.webhooksTook?.(performance.now() - startedMs));
  };
  const { admit, validate } = plugin;
  return {
    ...plugin,
    ...(admit === undefined ? {} : { admit: (attributes) => measured(admit, attributes) }),
    ...(validate === undefined ? {} : { validate: (attributes) => measured(validate, attributes) }),
  };
}

function dispatchOf(
  parts: WebhookPluginParts,
  { clients, observer, breaksCircuits }: WebhookParts,
  resource: string,
  type: WebhookType,
): WebhookDispatch {
  const { clock } = parts;
  const breaker = new CircuitBreaker(clock, ({ configuration, name }, state) =>
    observer.circuit({ configuration, name, type, state }),
  );
  const set = new WebhookSet({ group, resource }, parts, (webhooks) => breaker.keepOnly(webhooks));
  return {
    webhooks: () => set.all(),
    matcher: new WebhookMatcher({ ...parts, observer }),
    caller: new WebhookCaller({ clients, clock, breaker: breaksCircuits ? breaker : undefined }),
    observer,
    clock,
  };
}

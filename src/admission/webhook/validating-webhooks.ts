import type { AdmissionAttributes, AdmissionPlugin } from "../../registry/admission.ts";
import { refuseAbandoned } from "../../registry/request-lifetime.ts";
import { RequestDocuments } from "../matching/request-documents.ts";
import type { ShownDocuments } from "../matching/shown-documents.ts";
import type { WebhookInvocation } from "./webhook-caller.ts";
import type { AdmissionWebhook } from "./webhook-configuration.ts";
import { isExemptFromWebhooks } from "./webhook-matcher.ts";
import { type WebhookDispatch, WebhookOutcomes } from "./webhook-outcomes.ts";

/** Calls the validating webhooks side by side, all with the final object. The first refusal to arrive is the answer. */
export function validatingWebhooks(dispatch: WebhookDispatch): Omit<AdmissionPlugin, "name"> {
  const outcomes = new WebhookOutcomes("validating", dispatch);
  return {
    seesConnections: true,
    validate(attributes) {
      const webhooks = dispatch.webhooks();
      if (webhooks.length === 0 || isExemptFromWebhooks(attributes)) return;
      return callTogether(webhooks, attributes, dispatch, outcomes);
    },
  };
}

interface PreparedCall extends WebhookInvocation {
  readonly documents: ShownDocuments;
}

async function callTogether(
  webhooks: readonly AdmissionWebhook[],
  attributes: AdmissionAttributes,
  { matcher, clock }: WebhookDispatch,
  outcomes: WebhookOutcomes,
): Promise<void> {
  const calls: PreparedCall[] = [];
  const documents = new RequestDocuments(attributes, "asRead");
  for (const webhook of webhooks) {
    const invocation = await matcher.match(webhook, "validating", attributes, documents);
    if (invocation === undefined) continue;
    calls.push({ ...invocation, documents: await documents.in(invocation.matched) });
  }
  if (calls.length === 0) return;
  refuseAbandoned(attributes, clock);
  const refusals: unknown[] = [];
  await Promise.all(
    calls.map(({ documents: shown, ...invocation }, index) =>
      outcomes
        .settle(attributes, { webhook: invocation.webhook, round: 0, index }, async () => {
          await outcomes.ask(invocation, attributes, shown, false);
        })
        .catch((error: unknown) => void refusals.push(error)),
    ),
  );
  if (refusals.length > 0) throw refusals[0];
}

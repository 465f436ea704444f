import { cloneJson, equalJson, type JsonObject, type JsonValue } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { DecodeTypeError } from "../../api/schema/decode-error.ts";
import { StatusError, status } from "../../api/status.ts";
import { JsonPatchError, patchDocument } from "../../apply/patch/json-patch.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../../registry/admission.ts";
import type { Reinvocation } from "../../registry/reinvocation.ts";
import { RequestDocuments } from "../matching/request-documents.ts";
import { type ReviewResponse, readPatch } from "./admission-review.ts";
import { type AnnotatedCall, annotateMutation, annotatePatch } from "./webhook-annotations.ts";
import type { WebhookInvocation } from "./webhook-caller.ts";
import type { AdmissionWebhook } from "./webhook-configuration.ts";
import { CallingWebhookError } from "./webhook-error.ts";
import { isExemptFromWebhooks } from "./webhook-matcher.ts";
import { type WebhookDispatch, WebhookOutcomes } from "./webhook-outcomes.ts";

/** Between the rounds of one request: the webhooks to call again if the object changes. */
class ReinvocationNotes {
  /** Called in this round or the one before, and not since the last change. */
  readonly called = new Set<string>();
  /** To be called again. */
  readonly due = new Set<string>();
  /** The object as the webhooks left it; kept only if it matters. */
  left: JsonObject | undefined;

  objectChanged(): void {
    for (const key of this.called) this.due.add(key);
    this.called.clear();
  }
}

/**
 * Calls the mutating webhooks one after another, each with the result of the previous one. If one changes the object,
 * the mutating plugins run once more, and only the webhooks that requested it are called again.
 */
export function mutatingWebhooks(dispatch: WebhookDispatch): Omit<AdmissionPlugin, "name"> {
  const notesOf = new WeakMap<Reinvocation, ReinvocationNotes>();
  const outcomes = new WebhookOutcomes("admit", dispatch);
  return {
    seesConnections: true,
    admit(attributes) {
      const webhooks = dispatch.webhooks();
      if (webhooks.length === 0 || isExemptFromWebhooks(attributes)) return;
      const { reinvocation } = attributes;
      let notes = notesOf.get(reinvocation);
      if (notes === undefined) {
        notes = new ReinvocationNotes();
        notesOf.set(reinvocation, notes);
      }
      return callInOrder(webhooks, attributes, notes, dispatch, outcomes);
    },
  };
}

async function callInOrder(
  webhooks: readonly AdmissionWebhook[],
  attributes: AdmissionAttributes,
  notes: ReinvocationNotes,
  { matcher }: WebhookDispatch,
  outcomes: WebhookOutcomes,
): Promise<void> {
  const { reinvocation, object } = attributes;
  if (reinvocation.isRepeat && notes.called.size > 0 && !isAsLeft(notes, object)) notes.objectChanged();
  const documents = new RequestDocuments(attributes, "asRead");
  const round = reinvocation.isRepeat ? 1 : 0;
  for (const [index, webhook] of webhooks.entries()) {
    const invocation = await matcher.match(webhook, "admit", attributes, documents);
    if (invocation === undefined || (reinvocation.isRepeat && !notes.due.has(webhook.key))) continue;
    let isChanged = false;
    const place = { webhook, round, index };
    await outcomes.settle(attributes, place, async () => {
      try {
        isChanged = await callOne(invocation, attributes, documents, outcomes, place);
      } finally {
        annotateMutation(attributes, place, isChanged);
      }
    });
    if (isChanged) {
      notes.objectChanged();
      reinvocation.request();
    }
    if (webhook.isReinvoked) notes.called.add(webhook.key);
  }
  await documents.enter();
  notes.left = notes.called.size === 0 || object === undefined ? undefined : cloneJson(object as unknown as JsonObject);
}

function isAsLeft({ left }: ReinvocationNotes, object: KubeObject | undefined): boolean {
  return left !== undefined && object !== undefined && equalJson(left, object as unknown as JsonObject);
}

/** Reports whether the webhook changed the object. */
async function callOne(
  invocation: WebhookInvocation,
  attributes: AdmissionAttributes,
  documents: RequestDocuments,
  outcomes: WebhookOutcomes,
  place: AnnotatedCall,
): Promise<boolean> {
  const shown = await documents.in(invocation.matched);
  const response = await outcomes.ask(invocation, attributes, shown, true);
  const patch = patchOf(invocation, response);
  if (patch.length === 0) return false;
  const { name } = invocation.webhook;
  if (shown.object === undefined) {
    throw status.internal(
      `admission webhook ${JSON.stringify(name)} attempted to modify the object, which is not supported for this operation`,
    );
  }
  if (response.patchType !== "JSONPatch") {
    throw new CallingWebhookError(name, `unsupported patch type ${JSON.stringify(response.patchType)}`);
  }
  const isChanged = replaceObject(documents, shown.object, patched(shown.object, patch));
  annotatePatch(attributes, place, patch);
  return isChanged;
}

/**
 * Takes over what a webhook made of the object. Unknown fields are dropped.
 * @returns whether the object means something else than before
 * @throws StatusError 500 for a document of the wrong type
 */
function replaceObject(documents: RequestDocuments, before: KubeObject, after: JsonObject): boolean {
  try {
    const { object: decoded } = documents.decode(after);
    const isOther = !equalJson(decoded, documents.decode(before as unknown as JsonObject).object);
    documents.replace(decoded);
    return isOther;
  } catch (error) {
    if (error instanceof DecodeTypeError) throw status.internal(error.message);
    throw error;
  }
}

function patchOf({ webhook }: WebhookInvocation, { patch }: ReviewResponse): readonly JsonValue[] {
  if (patch === undefined) return [];
  try {
    return readPatch(patch);
  } catch (error) {
    const why = (error as Error).message;
    throw new CallingWebhookError(webhook.name, `received undecodable patch in webhook response: ${why}`);
  }
}

/** @throws StatusError 500: the failure policy is about calls, and this call has succeeded */
function patched(object: KubeObject, patch: readonly JsonValue[]): JsonObject {
  try {
    return patchDocument(object as unknown as JsonObject, [...patch]) as JsonObject;
  } catch (error) {
    if (error instanceof JsonPatchError || error instanceof StatusError) throw status.internal(error.message);
    throw error;
  }
}

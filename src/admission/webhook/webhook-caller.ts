import { decodeAnswer, WebhookAnswerError } from "../../client/webhook/decode-answer.ts";
import { type Webhook, WebhookCallError, type WebhookFinder } from "../../client/webhook/webhook-client.ts";
import type { Clock } from "../../process/clock.ts";
import type { AdmissionAttributes } from "../../registry/admission.ts";
import type { MatchedResource } from "../matching/matched-resource.ts";
import type { ShownDocuments } from "../matching/shown-documents.ts";
import {
  admissionReview,
  InvalidReviewError,
  type ReviewResponse,
  readReview,
  reviewKinds,
  reviewVersionOf,
  UndecodableReviewError,
} from "./admission-review.ts";
import type { CircuitBreaker } from "./circuit-breaker.ts";
import type { AdmissionWebhook } from "./webhook-configuration.ts";
import { CallingWebhookError, dryRunUnsupported, rejection } from "./webhook-error.ts";

/** A patch can make an object of the largest size, in base64. */
const answerBytesMax = 8 * 1024 * 1024;
/** Part of a webhook's time that passes before a call without a queue is on its way. */
const sendingMsMax = 50;
const harmlessSideEffects = ["None", "NoneOnDryRun"];

export interface WebhookCallerParts {
  readonly clients: WebhookFinder;
  readonly clock: Clock;
  /** Undefined if webhooks that hang are called like all others. */
  readonly breaker?: CircuitBreaker | undefined;
}

/** A webhook with the version of the request that it matched. */
export interface WebhookInvocation {
  readonly webhook: AdmissionWebhook;
  readonly matched: MatchedResource;
}

/** Asks webhooks about requests. */
export class WebhookCaller {
  readonly #parts: WebhookCallerParts;

  constructor(parts: WebhookCallerParts) {
    this.#parts = parts;
  }

  /**
   * Asks one webhook. Notes its warnings and annotations also when it refuses.
   * @throws CallingWebhookError when it gives no answer that can be used
   * @throws StatusError when it refuses, or may not be called in a dry run
   */
  async ask(
    { webhook, matched }: WebhookInvocation,
    attributes: AdmissionAttributes,
    documents: ShownDocuments,
    isMutating: boolean,
  ): Promise<ReviewResponse> {
    const { name, sideEffects } = webhook;
    if (attributes.dryRun) {
      if (sideEffects === undefined) throw new CallingWebhookError(name, "Webhook SideEffects is nil", { code: 400 });
      if (!harmlessSideEffects.includes(sideEffects)) throw dryRunUnsupported(name);
    }
    const version = reviewVersionOf(webhook.reviewVersions);
    if (version === undefined) {
      const why = "webhook does not accept known AdmissionReview versions (v1, v1beta1)";
      throw new CallingWebhookError(name, `could not create admission objects: ${why}`, { code: 400 });
    }
    const uid = crypto.randomUUID();
    const body = admissionReview(version, uid, attributes, matched, documents);
    const review = await this.#call(webhook, body, attributes);
    const response = this.#read(name, () => readReview(review, { version, uid, isMutating }));
    for (const [key, value] of Object.entries(response.auditAnnotations)) attributes.annotate(`${name}/${key}`, value);
    for (const text of response.warnings) attributes.warn(text);
    if (!response.isAllowed) throw rejection(name, response.result);
    return response;
  }

  async #call(webhook: AdmissionWebhook, body: string, attributes: AdmissionAttributes) {
    const { breaker } = this.#parts;
    const { name } = webhook;
    const client = this.#clientOf(webhook);
    if (breaker?.admits(webhook) === false) {
      throw new CallingWebhookError(name, "failed to call webhook: it has not answered lately, and is not waited for");
    }
    const requestMs = this.#timeLeft(attributes);
    const timeoutMs = Math.min(webhook.timeoutMs, requestMs);
    try {
      const answer = await client.post({ body, timeoutMs, answerBytesMax, signal: attributes.signal() });
      breaker?.answered(webhook);
      return decodeAnswer(answer, reviewKinds);
    } catch (error) {
      if (error instanceof WebhookCallError) {
        if (hadItsTime(webhook, error)) breaker?.timedOut(webhook);
        const { reason } = error;
        const isRequestOver = reason === "timeout" && requestMs <= webhook.timeoutMs;
        throw new CallingWebhookError(name, `failed to call webhook: ${error.message}`, { reason, isRequestOver });
      }
      if (!(error instanceof WebhookAnswerError)) throw error;
      throw new CallingWebhookError(name, `failed to call webhook: ${error.message}`, { code: error.code });
    }
  }

  #clientOf({ name, clientConfig }: AdmissionWebhook): Webhook {
    try {
      return this.#parts.clients.of(clientConfig);
    } catch (error) {
      throw new CallingWebhookError(name, `could not get REST client: ${(error as Error).message}`, { code: 500 });
    }
  }

  /** Returns the time that a request still has, in milliseconds. */
  #timeLeft({ deadlineMs }: AdmissionAttributes): number {
    return deadlineMs === undefined ? Number.POSITIVE_INFINITY : deadlineMs - this.#parts.clock.steadyMs();
  }

  #read(name: string, read: () => ReviewResponse): ReviewResponse {
    try {
      return read();
    } catch (error) {
      if (error instanceof InvalidReviewError) {
        throw new CallingWebhookError(name, `received invalid webhook response: ${error.message}`);
      }
      if (error instanceof UndecodableReviewError) {
        throw new CallingWebhookError(name, `failed to call webhook: ${error.message}`);
      }
      throw error;
    }
  }
}

/** Reports whether the webhook itself used up its time. A request's own deadline and our queue are not its fault. */
function hadItsTime({ timeoutMs }: AdmissionWebhook, { reason, waitedMs }: WebhookCallError): boolean {
  return reason === "timeout" && waitedMs >= timeoutMs - sendingMsMax;
}

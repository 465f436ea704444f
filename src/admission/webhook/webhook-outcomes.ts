import { status } from "../../api/status.ts";
import type { Clock } from "../../process/clock.ts";
import type { AdmissionAttributes } from "../../registry/admission.ts";
import { outOfTime, refuseAbandoned } from "../../registry/request-lifetime.ts";
import type { ShownDocuments } from "../matching/shown-documents.ts";
import type { ReviewResponse } from "./admission-review.ts";
import { type AnnotatedCall, annotateFailedOpen } from "./webhook-annotations.ts";
import type { WebhookCaller, WebhookInvocation } from "./webhook-caller.ts";
import type { AdmissionWebhook } from "./webhook-configuration.ts";
import { CallingWebhookError, WebhookRejection } from "./webhook-error.ts";
import type { WebhookMatcher } from "./webhook-matcher.ts";
import type { RejectionCause, WebhookObserver, WebhookType } from "./webhook-observer.ts";

/** The parts that call the webhooks of one kind of configuration. */
export interface WebhookDispatch {
  readonly webhooks: () => readonly AdmissionWebhook[];
  readonly matcher: WebhookMatcher;
  readonly caller: WebhookCaller;
  readonly observer: WebhookObserver;
  readonly clock: Clock;
}

/** Decides by the failure policy what the outcome of a call means for the request, and counts it. */
export class WebhookOutcomes {
  readonly #type: WebhookType;
  readonly #dispatch: WebhookDispatch;

  constructor(type: WebhookType, dispatch: WebhookDispatch) {
    this.#type = type;
    this.#dispatch = dispatch;
  }

  ask(
    invocation: WebhookInvocation,
    attributes: AdmissionAttributes,
    documents: ShownDocuments,
    isMutating: boolean,
  ): Promise<ReviewResponse> {
    return this.#dispatch.caller.ask(invocation, attributes, documents, isMutating);
  }

  /** Runs a call. Resolves if the request may go on. @throws StatusError if it may not */
  async settle(attributes: AdmissionAttributes, call: AnnotatedCall, run: () => Promise<void>): Promise<void> {
    const startMs = performance.now();
    const observe = (isRejected: boolean, code: number) =>
      this.#dispatch.observer.called({
        ...this.#labels(attributes, call),
        seconds: secondsSince(startMs),
        isRejected,
        code,
      });
    try {
      await run();
      observe(false, 200);
    } catch (error) {
      const { ignoresFailures } = call.webhook;
      if (error instanceof CallingWebhookError && ignoresFailures) {
        observe(false, error.code);
        this.#failOpen(error, attributes, call);
        return;
      }
      const [code, cause] = causeOf(error);
      observe(true, code);
      if (!(error instanceof CallingWebhookError && error.isCanceled)) {
        this.#dispatch.observer.rejected({ ...this.#labels(attributes, call), code }, cause);
      }
      throw error instanceof CallingWebhookError ? status.internal(error.message) : error;
    }
  }

  #failOpen(error: CallingWebhookError, attributes: AdmissionAttributes, call: AnnotatedCall): void {
    if (!error.isCanceled) {
      this.#dispatch.observer.failedOpen(call.webhook.name, this.#type);
      annotateFailedOpen(attributes, call, this.#type === "admit" ? "mutating" : "validating");
    }
    // A timer may fire just before the deadline, so the clock alone does not tell that the time is over.
    if (error.isRequestOver) throw outOfTime();
    refuseAbandoned(attributes, this.#dispatch.clock);
  }

  #labels({ operation }: AdmissionAttributes, { webhook: { name } }: AnnotatedCall) {
    return { name, type: this.#type, operation };
  }
}

function causeOf(error: unknown): [code: number, cause: RejectionCause] {
  if (error instanceof CallingWebhookError) return [error.code, "calling_webhook_error"];
  if (error instanceof WebhookRejection) return [error.code, "no_error"];
  return [0, "apiserver_internal_error"];
}

function secondsSince(startMs: number): number {
  return (performance.now() - startMs) / 1_000;
}

import { type Status, StatusError, status } from "../../api/status.ts";

interface CallFailure {
  readonly code?: number | undefined;
  readonly reason?: string | undefined;
  readonly isRequestOver?: boolean | undefined;
}

/** A call gave no usable answer. The failure policy decides whether the request continues. */
export class CallingWebhookError extends Error {
  override readonly name = "CallingWebhookError";
  /** For metrics. */
  readonly code: number;
  readonly isCanceled: boolean;
  readonly isTimeout: boolean;
  /** Whether the call used up the time of the request, which the failure policy cannot extend. */
  readonly isRequestOver: boolean;

  constructor(webhook: string, why: string, { code = 503, reason, isRequestOver = false }: CallFailure = {}) {
    super(`failed calling webhook ${JSON.stringify(webhook)}: ${why}`);
    this.code = code;
    this.isCanceled = reason === "canceled";
    this.isTimeout = reason === "timeout";
    this.isRequestOver = isRequestOver;
  }
}

/** A webhook has refused the request. */
export class WebhookRejection extends StatusError {}

const codeMin = 400;

/** Returns what a client sees of a refusal: the webhook's own status, made a failure that names the webhook. */
export function rejection(webhook: string, result: Partial<Status> | undefined): WebhookRejection {
  const { code = 0, message = "", reason = "" } = result ?? {};
  const denied = `admission webhook ${JSON.stringify(webhook)} denied the request`;
  const why = message === "" ? reason : message;
  return new WebhookRejection({
    ...result,
    kind: "Status",
    apiVersion: "v1",
    metadata: result?.metadata ?? {},
    status: "Failure",
    message: why === "" ? `${denied} without explanation` : `${denied}: ${why}`,
    code: code < codeMin ? codeMin : code,
  });
}

export function dryRunUnsupported(webhook: string): StatusError {
  return status.badRequest(`admission webhook ${JSON.stringify(webhook)} does not support dry run`);
}

import { StatusError, status } from "../../api/status.ts";
import { ClientGoneError, isClientGone } from "../../request/client-gone.ts";
import type { Exchange, HttpResponse } from "../../request/exchange.ts";
import { EncryptionFailedError, StoreUnavailableError, UndecryptableEntryError } from "../../storage/store.ts";
import { type EncodeStatus, errorReply, faultError, isAnswer } from "../error-response.ts";

export interface ErrorOptions {
  readonly encodeStatus?: EncodeStatus | undefined;
  /** Called with every error that is not an answer to the client. */
  readonly onFault?: ((error: unknown, exchange: Exchange) => void) | undefined;
}

/** Returns the answer to an error. An answer is sent unchanged; a fault of the server becomes a 500 without its cause. */
export function errorAnswers({ encodeStatus, onFault }: ErrorOptions): (e: unknown, of: Exchange) => HttpResponse {
  return (thrown, exchange) => {
    const error = isEndedByClient(thrown, exchange.request.signal) ? clientClosedRequest() : withAnswer(thrown);
    if (!isAnswer(error)) onFault?.(error, exchange);
    exchange.failed = isFailure(error);
    const answer = isAnswer(error) ? error : answerToFault(error, exchange);
    if (answer instanceof StatusError) exchange.refusal = answer.status;
    if (encodeStatus === undefined) return errorReply(answer);
    try {
      return errorReply(answer, (status) => encodeStatus(status, exchange));
    } catch (encodingError) {
      if (!isAnswer(encodingError)) onFault?.(encodingError, exchange);
      return errorReply(answer);
    }
  };
}

/**
 * A call to a webhook or node that ended because the client disconnected gives a 5xx that is not a fault of the server.
 */
function isEndedByClient(error: unknown, signal: AbortSignal): boolean {
  if (isClientGone(error, signal)) return true;
  return error instanceof StatusError && error.code >= 500 && signal.reason instanceof ClientGoneError;
}

/** Returns an answer that nobody receives. Metrics and the audit log use it, with the usual code for such an end. */
function clientClosedRequest(): StatusError {
  const { status: value } = status.badRequest("the client closed its request before the response");
  return new StatusError({ ...value, reason: "ClientClosedRequest", code: 499 });
}

/** Returns the answer to an error of encryption, which tells its reason, and any other error unchanged. */
function withAnswer(error: unknown): unknown {
  const isEncryption = error instanceof EncryptionFailedError || error instanceof UndecryptableEntryError;
  return isEncryption ? status.internal(error.reason) : error;
}

/** Upstream answers some mistakes of clients with a 500 without a reason. */
function isFailure(error: unknown): boolean {
  return !isAnswer(error) || (error instanceof StatusError && error.reason === "InternalError");
}

/**
 * Returns the answer to a failure of the store. If the outcome of a write is unknown, it is a timeout without
 * Retry-After, so that clients do not repeat the write. A write that certainly did not happen may be retried, here or
 * elsewhere.
 */
function answerToFault(error: unknown, { auditId }: Exchange): ReturnType<typeof faultError> {
  if (error instanceof StoreUnavailableError) {
    if (error.outcome === "notDone") return status.timeout("there is no quorum of the store at the moment", 1);
    return status.timeout("the outcome is not known");
  }
  return faultError(auditId);
}

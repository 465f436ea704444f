import { type EncodeStatus, errorReply, faultError, isAnswer } from "../error-response.ts";
import type { Exchange, Filter } from "../exchange.ts";

export interface ErrorOptions {
  readonly encodeStatus?: EncodeStatus | undefined;
  /** Called with every error that is no answer to the client. */
  readonly onFault?: ((error: unknown, exchange: Exchange) => void) | undefined;
}

/** Every error ends here: an answer goes out as it is, a fault of ours as a 500 that tells nothing of its cause. */
export function errors({ encodeStatus, onFault }: ErrorOptions): Filter {
  return (next) => async (exchange) => {
    try {
      return await next(exchange);
    } catch (error) {
      if (!isAnswer(error)) onFault?.(error, exchange);
      const answer = isAnswer(error) ? error : faultError(exchange.auditId);
      if (encodeStatus === undefined) return errorReply(answer);
      try {
        return errorReply(answer, (status) => encodeStatus(status, exchange));
      } catch (encodingError) {
        if (!isAnswer(encodingError)) onFault?.(encodingError, exchange);
        return errorReply(answer);
      }
    }
  };
}

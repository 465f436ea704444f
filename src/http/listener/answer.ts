import type { Eventual } from "../../process/eventual.ts";
import type { HttpResponse } from "../../request/exchange.ts";
import { errorReply, faultError, isAnswer } from "../error-response.ts";
import { withHeaders } from "../with-headers.ts";
import { checkHead } from "./check-head.ts";
import type { ReceivedRequest } from "./received-request.ts";
import type { Serving } from "./serving.ts";

/** Returns a response to every request, whatever happens. A connection with an ambiguous head is not used again. */
export function answer(request: ReceivedRequest, serving: Serving): Eventual<HttpResponse> {
  try {
    checkHead(request);
  } catch (error) {
    return withHeaders(rendered(error, serving), [["connection", "close"]]);
  }
  try {
    const response = serving.handle(request);
    return response instanceof Promise ? response.catch((error: unknown) => rendered(error, serving)) : response;
  } catch (error) {
    return rendered(error, serving);
  }
}

function rendered(error: unknown, serving: Serving): HttpResponse {
  if (isAnswer(error)) return errorReply(error);
  serving.onError(error);
  return errorReply(faultError("-"));
}

import type { Filter } from "../exchange.ts";
import { withHeaders } from "../with-headers.ts";

/** Adds what filters have put into `exchange.responseHeaders`, on errors too. */
export const responseHeaders: Filter = (next) => async (exchange) => {
  const response = await next(exchange);
  return withHeaders(response, exchange.responseHeaders);
};

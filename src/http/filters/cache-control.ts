import type { Filter } from "../exchange.ts";
import { withHeaders } from "../with-headers.ts";

/** Responses are not cached by anyone, unless the handler says otherwise. */
export const cacheControl: Filter = (next) => async (exchange) => {
  const response = await next(exchange);
  if (response.headers.some(([name]) => name === "cache-control")) return response;
  return withHeaders(response, [["cache-control", "no-cache, private"]]);
};

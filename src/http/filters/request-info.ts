import type { Filter } from "../../request/exchange.ts";
import { parseRequestInfo } from "../parse-request-info.ts";

export const requestInfo: Filter = (next) => (exchange) => {
  exchange.info = parseRequestInfo(exchange.request.method, exchange.request.rawPath);
  return next(exchange);
};

import type { Finish } from "../../request/exchange.ts";
import { withHeaders } from "../with-headers.ts";
import { warningValues } from "./warnings.ts";

/**
 * Adds the headers of every response, errors included: `Audit-Id`, the filters' `exchange.responseHeaders`, one `Warning`
 * for each text, and no caching unless the handler allows it.
 */
export const responseHeaders: Finish = (exchange, response) => {
  const more: [string, string][] = [["audit-id", exchange.auditId], ...exchange.responseHeaders];
  if (exchange.warnings.length > 0) {
    for (const value of warningValues(exchange.warnings)) more.push(["warning", value]);
  }
  if (!response.headers.some(([name]) => name === "cache-control")) more.push(["cache-control", "no-cache, private"]);
  return withHeaders(response, more);
};

import type { Finish } from "../../request/exchange.ts";
import { withHeaders } from "../with-headers.ts";
import { warningValues } from "./warnings.ts";

/**
 * Adds the headers that every response carries, errors too: `Audit-Id`, the ones that filters have put into
 * `exchange.responseHeaders`, one `Warning` per text, and no caching unless the handler says otherwise.
 */
export const responseHeaders: Finish = (exchange, response) => {
  const more: [string, string][] = [["audit-id", exchange.auditId], ...exchange.responseHeaders];
  if (exchange.warnings.length > 0) {
    for (const value of warningValues(exchange.warnings)) more.push(["warning", value]);
  }
  if (!response.headers.some(([name]) => name === "cache-control")) more.push(["cache-control", "no-cache, private"]);
  return withHeaders(response, more);
};

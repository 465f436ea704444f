import { type Filter, header } from "../../request/exchange.ts";

const auditIdLengthMax = 64;

/** Gives every request an id, returned in `Audit-Id`: the client's own if it is harmless, otherwise a new one. */
export function auditId(newId: () => string): Filter {
  return (next) => (exchange) => {
    const given = header(exchange.request, "audit-id");
    exchange.auditId = given !== undefined && isHarmless(given) ? given : newId();
    return next(exchange);
  };
}

function isHarmless(id: string): boolean {
  return id.length <= auditIdLengthMax && /^[A-Za-z0-9._:-]+$/.test(id);
}

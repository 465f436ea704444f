import type { Authorizer, Decision } from "../../access/authorization/authorizer.ts";
import { forbiddenError } from "../../access/authorization/forbidden.ts";
import { recordDecision } from "../../request/annotations.ts";
import type { Filter } from "../../request/exchange.ts";

/** Answers 403 before the body is read and before the path is looked up. */
export function authorization(authorizer: Authorizer): Filter {
  return (next) => (exchange) => {
    const { user, info } = exchange;
    const enter = (decision: Decision) => {
      const allowed = decision.kind === "allow";
      if (exchange.audit !== undefined) {
        recordDecision(exchange.audit, allowed ? "allow" : "forbid", decision.reason);
      }
      if (allowed) return next(exchange);
      exchange.responseHeaders.push(["x-content-type-options", "nosniff"]);
      throw forbiddenError(user, info, decision.reason);
    };
    const decision = authorizer.authorize(user, info);
    return decision instanceof Promise ? decision.then(enter) : enter(decision);
  };
}

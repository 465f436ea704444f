import { StatusError } from "../../api/status.ts";
import type { RequestAuthenticator } from "../../authentication/authenticator.ts";
import { anonymousUser } from "../../authentication/user-info.ts";
import type { Exchange, Filter } from "../exchange.ts";

/** Finds the user or ends with 401. Strangers on HTTP/2 lose their connection after the reply, so that none can pile up. */
export function authentication(authenticator: RequestAuthenticator): Filter {
  return (next) => async (exchange) => {
    try {
      exchange.user = await authenticator.authenticate(exchange.request);
    } catch (error) {
      if (error instanceof StatusError && error.code === 401) closeAfterReply(exchange);
      throw error;
    }
    if (exchange.user.name === anonymousUser.name) closeAfterReply(exchange);
    return next(exchange);
  };
}

function closeAfterReply({ request, responseHeaders }: Exchange): void {
  if (request.httpVersion === "2") responseHeaders.push(["connection", "close"]);
}

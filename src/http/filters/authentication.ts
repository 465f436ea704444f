import type { RequestAuthenticator } from "../../access/authentication/authenticator.ts";
import { StatusError } from "../../api/status.ts";
import type { Exchange, Filter } from "../../request/exchange.ts";
import { anonymousUser, type UserInfo } from "../../request/user-info.ts";

/**
 * Finds the user, or answers 401. On HTTP/2 closes the connection after the 401, so that such clients cannot accumulate.
 */
export function authentication(authenticator: RequestAuthenticator): Filter {
  return (next) => {
    const enter = (exchange: Exchange, user: UserInfo) => {
      exchange.user = user;
      if (user.name === anonymousUser.name) closeAfterReply(exchange);
      return next(exchange);
    };
    return (exchange) => {
      let user: UserInfo | Promise<UserInfo>;
      try {
        user = authenticator.authenticate(exchange.request);
      } catch (error) {
        return refuse(exchange, error);
      }
      if (!(user instanceof Promise)) return enter(exchange, user);
      return user.then(
        (found) => enter(exchange, found),
        (error: unknown) => refuse(exchange, error),
      );
    };
  };
}

function refuse(exchange: Exchange, error: unknown): never {
  if (error instanceof StatusError && error.code === 401) closeAfterReply(exchange);
  throw error;
}

function closeAfterReply({ request, responseHeaders }: Exchange): void {
  if (request.httpVersion === "2") responseHeaders.push(["connection", "close"]);
}

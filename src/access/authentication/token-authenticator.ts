import { AuthenticationFailure } from "./authenticator.ts";
import type { UserInfo } from "../../request/user-info.ts";

/** Who a token stands for, and which of the audiences that were asked for it is meant for. */
export interface TokenAnswer {
  readonly user: UserInfo;
  readonly audiences: readonly string[];
  /** What the audit log has to say of the use of such a token. */
  readonly notes?: readonly (readonly [key: string, value: string])[] | undefined;
}

/**
 * Finds the user of a token that is meant for one of `audiences`. Undefined: not a token of this kind.
 * @throws AuthenticationFailure for a token of this kind that is not valid
 */
export interface TokenAuthenticator {
  authenticateToken(
    token: string,
    audiences: readonly string[],
  ): Promise<TokenAnswer | undefined> | TokenAnswer | undefined;
}

/** The audiences that both sides name, in the order in which they are asked for. */
export function commonAudiences(asked: readonly string[], held: readonly string[]): readonly string[] {
  if (asked === held) return asked;
  return asked.filter((audience) => held.includes(audience));
}

/** Tokens that name no audience are meant for this server, and for nobody else. */
export function tokensForServer(
  apiAudiences: readonly string[],
  find: (token: string) => UserInfo | undefined,
): TokenAuthenticator {
  return {
    authenticateToken(token, asked) {
      const user = find(token);
      if (user === undefined) return undefined;
      const audiences = commonAudiences(asked, apiAudiences);
      if (audiences.length > 0 || apiAudiences.length === 0) return { user, audiences };
      throw new AuthenticationFailure("the token is meant for this server only", { decisive: false });
    },
  };
}

/** Asks in order; the first that knows the token decides. A failure of one does not hide the success of another. */
export function tokenUnion(authenticators: readonly TokenAuthenticator[]): TokenAuthenticator {
  return { authenticateToken: (token, audiences) => ask(token, audiences, 0, undefined) };

  function ask(
    token: string,
    audiences: readonly string[],
    from: number,
    failure: AuthenticationFailure | undefined,
  ): ReturnType<TokenAuthenticator["authenticateToken"]> {
    let first = failure;
    for (let at = from; at < authenticators.length; at++) {
      try {
        const answer = (authenticators[at] as TokenAuthenticator).authenticateToken(token, audiences);
        if (answer instanceof Promise) {
          // At once where every answer is at hand: a promise is made only where one has to be waited for.
          return answer.then(
            (found) => found ?? ask(token, audiences, at + 1, first),
            (error: unknown) => ask(token, audiences, at + 1, first ?? failureOf(error)),
          );
        }
        if (answer !== undefined) return answer;
      } catch (error) {
        first ??= failureOf(error);
      }
    }
    if (first !== undefined) throw first;
    return undefined;
  }
}

/** @throws the error itself when it is no failure of the token */
function failureOf(error: unknown): AuthenticationFailure {
  if (error instanceof AuthenticationFailure) return error;
  throw error;
}

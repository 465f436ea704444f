import type { UserInfo } from "../../request/user-info.ts";
import { AuthenticationFailure } from "./authenticator.ts";

/** The user of a token, and those of the requested audiences for which it is valid. */
export interface TokenAnswer {
  readonly user: UserInfo;
  readonly audiences: readonly string[];
  /** Notes for the audit log about the use of the token. */
  readonly notes?: readonly (readonly [key: string, value: string])[] | undefined;
}

/**
 * Finds the user of a token for one of `audiences`. Returns undefined for a token of another kind.
 * @throws AuthenticationFailure for an invalid token of this kind
 */
export interface TokenAuthenticator {
  authenticateToken(
    token: string,
    audiences: readonly string[],
  ): Promise<TokenAnswer | undefined> | TokenAnswer | undefined;
}

/** Returns the audiences on both lists, in the order of `asked`. */
export function commonAudiences(asked: readonly string[], held: readonly string[]): readonly string[] {
  if (asked === held) return asked;
  return asked.filter((audience) => held.includes(audience));
}

/** Returns an authenticator for tokens without an audience, which are only for this server. */
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
      throw new AuthenticationFailure("the token is only for this server", { decisive: false });
    },
  };
}

/**
 * Asks in order. The first authenticator that knows the token decides. The failure of one does not hide another's
 * success.
 */
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
          // Synchronous if every answer is.
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

/** @throws the error itself, unless it means an invalid token */
function failureOf(error: unknown): AuthenticationFailure {
  if (error instanceof AuthenticationFailure) return error;
  throw error;
}

import { status } from "../api/status.ts";
import type { IncomingRequest } from "../http/exchange.ts";
import type { UserInfo } from "./user-info.ts";

/**
 * Finds out who sent a request. Undefined: the request carries no credential of this kind.
 * @throws AuthenticationFailure when it carries one that is not valid
 */
export interface Authenticator {
  authenticate(request: IncomingRequest): Promise<UserInfo | undefined> | UserInfo | undefined;
}

/** An authenticator that always finds a user, or throws a 401. */
export interface RequestAuthenticator {
  authenticate(request: IncomingRequest): Promise<UserInfo>;
}

/** A credential that was given and is not valid. The reason is for the log only, never for the client. */
export class AuthenticationFailure extends Error {
  /** A decisive failure is a 401 whatever other credentials say; another one only when nothing else succeeds. */
  readonly decisive: boolean;

  constructor(reason: string, options: { decisive: boolean }) {
    super(reason);
    this.name = "AuthenticationFailure";
    this.decisive = options.decisive;
  }
}

/**
 * Asks every authenticator in order; the first success is the user. All are asked, because an invalid bearer token
 * makes the request a 401 even when the client certificate is good. `fallback` answers requests without any credential.
 * @throws StatusError 401
 */
export function unionAuthenticator(
  authenticators: readonly Authenticator[],
  fallback?: Authenticator,
): RequestAuthenticator {
  return {
    async authenticate(request) {
      let found: UserInfo | undefined;
      let failed = false;
      for (const authenticator of authenticators) {
        try {
          const answer = authenticator.authenticate(request);
          const user = answer instanceof Promise ? await answer : answer;
          found ??= user;
        } catch (error) {
          if (!(error instanceof AuthenticationFailure)) throw error;
          if (error.decisive) throw status.unauthorized();
          failed = true;
        }
      }
      if (found !== undefined) return withAuthenticatedGroup(found);
      if (failed) throw status.unauthorized();
      const user = await fallback?.authenticate(request);
      if (user === undefined) throw status.unauthorized();
      return user;
    },
  };
}

const authenticatedGroup = "system:authenticated";
export const unauthenticatedGroup = "system:unauthenticated";

/** Everyone who authenticated is in `system:authenticated`. */
function withAuthenticatedGroup(user: UserInfo): UserInfo {
  if (user.groups.includes(authenticatedGroup) || user.groups.includes(unauthenticatedGroup)) return user;
  return { ...user, groups: [...user.groups, authenticatedGroup] };
}

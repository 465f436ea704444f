import { status } from "../../api/status.ts";
import type { IncomingRequest } from "../../request/exchange.ts";
import type { UserInfo } from "../../request/user-info.ts";

/**
 * Identifies the sender of a request. Returns undefined if the request has no credential of its kind.
 * @throws AuthenticationFailure for an invalid credential
 */
export interface Authenticator {
  /** Whether its user is final even if the request has other credentials, because it speaks for the sender. */
  readonly isFinal?: true;
  authenticate(request: IncomingRequest): Promise<UserInfo | undefined> | UserInfo | undefined;
}

/** An authenticator that always returns a user or throws a 401. */
export interface RequestAuthenticator {
  authenticate(request: IncomingRequest): Promise<UserInfo> | UserInfo;
}

/** An invalid credential. The reason is for the log only, never for the client. */
export class AuthenticationFailure extends Error {
  /**
   * Whether the failure causes a 401 even if other credentials are valid. Otherwise it does so only if nothing else
   * succeeds.
   */
  readonly decisive: boolean;

  constructor(reason: string, options: { decisive: boolean }) {
    super(reason);
    this.name = "AuthenticationFailure";
    this.decisive = options.decisive;
  }
}

/**
 * Asks every authenticator in order. The first success determines the user. All are asked, because an invalid bearer
 * token makes the request a 401 even with a good client certificate. `fallback` handles requests without any credential;
 * `onRefused` receives the reasons for rejections.
 * @throws StatusError 401
 */
export function unionAuthenticator(
  authenticators: readonly Authenticator[],
  fallback?: Authenticator,
  onRefused: (reason: string) => void = () => {},
): RequestAuthenticator {
  return { authenticate: (request) => ask(request, 0, nothingFound) };

  /** Asks the authenticators from `at` on. Synchronous if every answer is. */
  function ask(request: IncomingRequest, at: number, before: Findings): UserInfo | Promise<UserInfo> {
    let findings = before;
    for (let next = at; next < authenticators.length; next++) {
      try {
        const authenticator = authenticators[next] as Authenticator;
        const answer = authenticator.authenticate(request);
        if (answer instanceof Promise) {
          const { user, failed } = findings;
          return answer
            .then(
              (found) => ({ user: user ?? found, failed }),
              (error: unknown) => ({ user, failed: isFailure(error) }),
            )
            .then((found) => ask(request, next + 1, { user: found.user, failed: failed || found.failed }));
        }
        if (answer !== undefined && authenticator.isFinal === true) return withAuthenticatedGroup(answer);
        if (findings.user === undefined && answer !== undefined) findings = { user: answer, failed: findings.failed };
      } catch (error) {
        findings = { user: findings.user, failed: isFailure(error) };
      }
    }
    if (findings.user !== undefined) return withAuthenticatedGroup(findings.user);
    return findings.failed ? unauthorized() : askFallback(request);
  }

  /** @throws StatusError 401 for a decisive failure, and any other error unchanged */
  function isFailure(error: unknown): true {
    if (!(error instanceof AuthenticationFailure)) throw error;
    onRefused(error.message);
    return error.decisive ? unauthorized() : true;
  }

  function askFallback(request: IncomingRequest): UserInfo | Promise<UserInfo> {
    const answer = fallback?.authenticate(request);
    if (answer instanceof Promise) return answer.then((user) => user ?? unauthorized());
    return answer ?? unauthorized();
  }
}

interface Findings {
  readonly user: UserInfo | undefined;
  /** Whether an invalid credential was presented. */
  readonly failed: boolean;
}

const nothingFound: Findings = { user: undefined, failed: false };

function unauthorized(): never {
  throw status.unauthorized();
}

const authenticatedGroup = "system:authenticated";
export const unauthenticatedGroup = "system:unauthenticated";

/**
 * Users with the group added. Caches long-lived users, such as those of the token file or of a connection's certificate.
 */
const authenticated = new WeakMap<UserInfo, UserInfo>();

/** Adds `system:authenticated` to the user's groups. */
export function withAuthenticatedGroup(user: UserInfo): UserInfo {
  if (user.groups.includes(authenticatedGroup) || user.groups.includes(unauthenticatedGroup)) return user;
  let member = authenticated.get(user);
  if (member === undefined) {
    member = { ...user, groups: [...user.groups, authenticatedGroup] };
    authenticated.set(user, member);
  }
  return member;
}

import { headerValues } from "../http/exchange.ts";
import { AuthenticationFailure, type Authenticator } from "./authenticator.ts";
import type { UserInfo } from "./user-info.ts";

/** Longer tokens are refused unread. */
const bearerTokenBytesMax = 32 * 1024;

/** Undefined: not a token of this kind, or not a valid one; another authenticator may know it. */
export interface TokenAuthenticator {
  authenticateToken(token: string): Promise<UserInfo | undefined> | UserInfo | undefined;
}

/**
 * `Authorization: Bearer <token>`; the first of `authenticators` that knows the token decides.
 * A bearer token that nobody knows, or that is malformed, is a decisive failure: it never falls through to another identity.
 * Other schemes are ignored.
 */
export function bearerTokenAuthenticator(authenticators: readonly TokenAuthenticator[]): Authenticator {
  return {
    authenticate(request) {
      const values = headerValues(request, "authorization");
      if (values.length === 0) return undefined;
      if (values.length > 1) throw refused("more than one Authorization header");
      const token = parseBearer(values[0] as string);
      return token === undefined ? undefined : firstUser(authenticators, token);
    },
  };
}

/** At once where every answer is at hand, so that a token of the file costs no promise. */
function firstUser(
  authenticators: readonly TokenAuthenticator[],
  token: string,
  from = 0,
): UserInfo | Promise<UserInfo> {
  for (let at = from; at < authenticators.length; at++) {
    const answer = (authenticators[at] as TokenAuthenticator).authenticateToken(token);
    if (answer instanceof Promise) return answer.then((user) => user ?? firstUser(authenticators, token, at + 1));
    if (answer !== undefined) return answer;
  }
  throw refused("the bearer token is not known");
}

const scheme = "bearer";

/** The token of an Authorization value; undefined for another scheme. */
function parseBearer(value: string): string | undefined {
  if (value.slice(0, scheme.length).toLowerCase() !== scheme) return undefined;
  if (value.length > scheme.length && !isBlank(value.charCodeAt(scheme.length))) return undefined;
  const token = value.slice(scheme.length + 1);
  if (value[scheme.length] !== " " || !isToken(token)) throw refused("the bearer token is malformed");
  return token;
}

/** Whether the text can be sent as a bearer token: visible ASCII without a comma, which would join two headers. */
export function isToken(text: string): boolean {
  if (text.length === 0 || text.length > bearerTokenBytesMax) return false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code <= 0x20 || code >= 0x7f || code === 0x2c) return false;
  }
  return true;
}

function isBlank(code: number): boolean {
  return code <= 0x20;
}

function refused(reason: string): AuthenticationFailure {
  return new AuthenticationFailure(reason, { decisive: true });
}

import { header, headerValues, type IncomingRequest } from "../../request/exchange.ts";
import type { UserInfo } from "../../request/user-info.ts";
import { AuthenticationFailure, type Authenticator } from "./authenticator.ts";
import type { TokenAnswer, TokenAuthenticator } from "./token-authenticator.ts";

/** Maximum length of a token. Longer ones are rejected unread. */
const bearerTokenBytesMax = 32 * 1024;

/**
 * Authenticates `Authorization: Bearer <token>` or, on an upgrade to WebSocket, the subprotocol that browsers use in its
 * place. An unknown or malformed bearer token is a decisive failure: it never falls through to another identity. Other
 * schemes are ignored.
 * @param audiences the audiences of this API server
 */
export function bearerTokenAuthenticator(tokens: TokenAuthenticator, audiences: readonly string[] = []): Authenticator {
  return {
    authenticate(request) {
      const token = headerToken(request) ?? webSocketToken(request);
      if (token === undefined) return undefined;
      let answer: ReturnType<TokenAuthenticator["authenticateToken"]>;
      try {
        answer = tokens.authenticateToken(token, audiences);
      } catch (error) {
        throw decisive(error);
      }
      if (answer instanceof Promise) {
        return answer.then(
          (found) => known(request, found),
          (error: unknown) => {
            throw decisive(error);
          },
        );
      }
      return known(request, answer);
    },
  };
}

function known(request: IncomingRequest, answer: TokenAnswer | undefined): UserInfo {
  if (answer === undefined) throw refused("the bearer token is unknown");
  if (answer.notes !== undefined) request.auditNotes = answer.notes;
  return answer.user;
}

function headerToken(request: IncomingRequest): string | undefined {
  let credential: string | undefined;
  for (const [name, value] of request.headers) {
    if (name !== "authorization") continue;
    if (credential !== undefined) throw refused("more than one Authorization header");
    credential = value;
  }
  return credential === undefined ? undefined : parseBearer(credential);
}

const scheme = "bearer";
/** The start of nearly every Authorization value. */
const usualStart = "Bearer ";

/**
 * Parses the token of an Authorization value. Returns undefined for another scheme, and for a scheme alone, which counts
 * as no credential. Any other form, including a second blank before the token, is an invalid token.
 */
function parseBearer(value: string): string | undefined {
  if (value.startsWith(usualStart)) {
    const usual = value.slice(usualStart.length);
    if (isToken(usual)) return usual;
  }
  if (value.slice(0, scheme.length).toLowerCase() !== scheme) return undefined;
  if (/^[ \t]*$/.test(value.slice(scheme.length))) return undefined;
  if (!isBlank(value.charCodeAt(scheme.length))) return undefined;
  const token = value.slice(scheme.length + 1);
  if (value[scheme.length] !== " " || !isToken(token)) throw refused("the bearer token is malformed");
  return token;
}

/** Reports whether the text is a possible bearer token: visible ASCII without a comma, which would join two headers. */
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

/**
 * Prefix of the subprotocol with the token as base64url without padding. Browsers cannot set headers on a WebSocket.
 */
export const webSocketTokenPrefix = "base64url.bearer.authorization.k8s.io.";

function webSocketToken(request: IncomingRequest): string | undefined {
  if ((header(request, "upgrade") ?? "").toLowerCase() !== "websocket") return undefined;
  const offered = headerValues(request, "sec-websocket-protocol").flatMap((value) => value.split(","));
  const tokens = offered.map((name) => name.trim()).filter((name) => name.startsWith(webSocketTokenPrefix));
  if (tokens.length === 0) return undefined;
  if (tokens.length > 1) throw refused("more than one bearer token among the subprotocols");
  const encoded = (tokens[0] as string).slice(webSocketTokenPrefix.length);
  const token = Buffer.from(encoded, "base64url").toString("latin1");
  if (Buffer.from(token, "latin1").toString("base64url") !== encoded || !isToken(token)) {
    throw refused("the bearer token among the subprotocols is malformed");
  }
  return token;
}

function decisive(error: unknown): unknown {
  return error instanceof AuthenticationFailure ? refused(error.message) : error;
}

function refused(reason: string): AuthenticationFailure {
  return new AuthenticationFailure(reason, { decisive: true });
}

import type { Clock } from "../../process/clock.ts";
import { headerValues, type IncomingRequest } from "../../request/exchange.ts";
import { AuthenticationFailure, type Authenticator } from "./authenticator.ts";
import { refuseOutdated } from "./client-certificate.ts";

/** Lower-case header names, in the order in which they are checked. */
export interface FrontProxyOptions {
  readonly usernameHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
  /** Common names of proxies; empty to allow every certificate of the authority. */
  readonly allowedNames: readonly string[];
}

/**
 * Authenticates the user that a proxy names. The headers are only valid on a connection with a certificate of the
 * proxies' own authority. The result is final: the proxy has already checked any token among the headers, and perhaps
 * only the proxy knows it.
 */
export function frontProxyAuthenticator(options: FrontProxyOptions, clock: Clock): Authenticator {
  return {
    isFinal: true,
    authenticate(request) {
      const { peer } = request;
      if (peer.kind !== "verified" || peer.isFrontProxy !== true) return undefined;
      const name = firstValue(request, options.usernameHeaders);
      if (name === "") return undefined;
      refuseOutdated(peer, clock);
      if (options.allowedNames.length > 0 && !options.allowedNames.includes(peer.commonName)) {
        throw refused("the common name of the proxy is not in the allowed list");
      }
      return {
        name,
        uid: firstValue(request, options.uidHeaders),
        groups: options.groupHeaders.flatMap((group) => headerValues(request, group)).filter((group) => group !== ""),
        extra: extraOf(request, options.extraHeaderPrefixes),
      };
    },
  };
}

/**
 * Returns the only value of the first header present. Rejects two values, because a proxy that appends its header to the
 * client's own would let the client choose.
 */
function firstValue(request: IncomingRequest, names: readonly string[]): string {
  for (const name of names) {
    const [value = "", ...others] = headerValues(request, name).filter((one) => one !== "");
    if (others.length > 0) throw refused(`the proxy sent more than one ${name}`);
    if (value !== "") return value;
  }
  return "";
}

function refused(reason: string): AuthenticationFailure {
  return new AuthenticationFailure(reason, { decisive: false });
}

function extraOf({ headers }: IncomingRequest, prefixes: readonly string[]): Map<string, string[]> {
  const extra = new Map<string, string[]>();
  for (const [name, value] of headers) {
    const prefix = prefixes.find((candidate) => name.startsWith(candidate));
    if (prefix === undefined) continue;
    const key = decoded(name.slice(prefix.length));
    const values = extra.get(key);
    if (values === undefined) extra.set(key, [value]);
    else values.push(value);
  }
  return extra;
}

/** Decodes a name. As upstream does, uses a name with an invalid percent-encoding unchanged. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name).toLowerCase();
  } catch {
    return name;
  }
}

import { header, headerValues, type IncomingRequest } from "../http/exchange.ts";
import { AuthenticationFailure, type Authenticator } from "./authenticator.ts";

/** Lower-case header names, in the order in which they are looked at. */
export interface FrontProxyOptions {
  readonly usernameHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
  /** Common names of proxies; empty for every certificate of their authority. */
  readonly allowedNames: readonly string[];
}

/**
 * Whoever a proxy says sent the request. Believed only over a connection with a certificate of the proxies' own authority:
 * from everybody else these headers mean nothing.
 */
export function frontProxyAuthenticator(options: FrontProxyOptions): Authenticator {
  return {
    authenticate(request) {
      const name = firstValue(request, options.usernameHeaders);
      if (name === "" || request.peer.kind !== "verified") return undefined;
      if (request.peer.isFrontProxy !== true) return undefined;
      const { commonName } = request.peer;
      if (options.allowedNames.length > 0 && !options.allowedNames.includes(commonName)) {
        throw new AuthenticationFailure("the common name of the proxy is not in the allowed list", { decisive: false });
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

function firstValue(request: IncomingRequest, names: readonly string[]): string {
  for (const name of names) {
    const value = header(request, name) ?? "";
    if (value !== "") return value;
  }
  return "";
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

/** A name that is not percent-encoded as it should be stands for itself, as upstream has it. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name).toLowerCase();
  } catch {
    return name;
  }
}

import type { FrontProxyOptions } from "../access/authentication/front-proxy.ts";
import { createAuthority } from "../access/certificates/authority.ts";
import { authorityLifetimeMs, validity } from "../access/certificates/kept-pair.ts";
import type { Clock } from "../process/clock.ts";

export interface ExtensionAuthenticationParts {
  readonly clock: Clock;
  /** Returns the PEM of the authorities of clients. */
  readonly clientAuthorities: () => string;
  /** Undefined if this server accepts no authenticating proxy. */
  readonly frontProxy: PublishedFrontProxy | undefined;
}

export type PublishedFrontProxy = FrontProxyOptions & { readonly authority: () => string | undefined };

/**
 * Returns a function for the data of `extension-apiserver-authentication`. Extension servers, the scheduler and the
 * controller manager use it to authenticate the same clients and proxies as this server.
 */
export function extensionAuthentication(parts: ExtensionAuthenticationParts): () => Record<string, string> {
  let { frontProxy } = parts;
  return () => {
    frontProxy ??= proxyThatNobodyIs(parts.clock.nowMs());
    const { usernameHeaders, uidHeaders, groupHeaders, extraHeaderPrefixes, allowedNames } = frontProxy;
    return {
      "client-ca-file": parts.clientAuthorities(),
      "requestheader-client-ca-file": frontProxy.authority() ?? "",
      "requestheader-allowed-names": JSON.stringify(allowedNames),
      "requestheader-username-headers": JSON.stringify(usernameHeaders),
      ...(uidHeaders.length === 0 ? {} : { "requestheader-uid-headers": JSON.stringify(uidHeaders) }),
      "requestheader-group-headers": JSON.stringify(groupHeaders),
      "requestheader-extra-headers-prefix": JSON.stringify(extraHeaderPrefixes),
    };
  };
}

/**
 * Returns a front proxy with the usual names, and an authority whose key is discarded, so it never issues a certificate.
 * Readers of the ConfigMap wait for a front proxy's authority, even if there is no front proxy.
 */
function proxyThatNobodyIs(nowMs: number): PublishedFrontProxy {
  const commonName = "quorate-front-proxy";
  const { certificate } = createAuthority({ commonName, ...validity(nowMs, authorityLifetimeMs) });
  return {
    allowedNames: ["front-proxy-client"],
    usernameHeaders: ["X-Remote-User"],
    uidHeaders: [],
    groupHeaders: ["X-Remote-Group"],
    extraHeaderPrefixes: ["X-Remote-Extra-"],
    authority: () => certificate,
  };
}

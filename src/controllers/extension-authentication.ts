import type { FrontProxyOptions } from "../access/authentication/front-proxy.ts";
import { frontProxyClientName, type OwnFrontProxy } from "../access/certificates/own-front-proxy.ts";
import type { ConfigMap } from "../api/types/core-v1.ts";

export interface ExtensionAuthenticationParts {
  /** Returns the PEM of the authorities of clients. */
  readonly clientAuthorities: () => string;
  /** Undefined if flags describe no authenticating proxy. */
  readonly frontProxy: PublishedFrontProxy | undefined;
  /** This server as the proxy in front of the servers of APIServices, where flags name no other. */
  readonly ownFrontProxy: Pick<OwnFrontProxy, "authority">;
}

export type PublishedFrontProxy = FrontProxyOptions & { readonly authority: () => string | undefined };

const authorityKey = "requestheader-client-ca-file";

/**
 * Returns a function for the data of `extension-apiserver-authentication`. Extension servers, the scheduler and the
 * controller manager use it to authenticate the same clients and proxies as this server.
 */
export function extensionAuthentication({
  clientAuthorities,
  frontProxy,
  ownFrontProxy,
}: ExtensionAuthenticationParts): (current: ConfigMap | undefined) => Record<string, string> {
  return (current) => {
    const published = current?.data?.[authorityKey];
    const authority = frontProxy === undefined ? ownFrontProxy.authority(published) : (frontProxy.authority() ?? "");
    const { usernameHeaders, uidHeaders, groupHeaders, extraHeaderPrefixes, allowedNames } = frontProxy ?? ownNames;
    return {
      "client-ca-file": clientAuthorities(),
      [authorityKey]: authority,
      "requestheader-allowed-names": JSON.stringify(allowedNames),
      "requestheader-username-headers": JSON.stringify(usernameHeaders),
      ...(uidHeaders.length === 0 ? {} : { "requestheader-uid-headers": JSON.stringify(uidHeaders) }),
      "requestheader-group-headers": JSON.stringify(groupHeaders),
      "requestheader-extra-headers-prefix": JSON.stringify(extraHeaderPrefixes),
    };
  };
}

/** The headers in which this server names the user. */
const ownNames: FrontProxyOptions = {
  allowedNames: [frontProxyClientName],
  usernameHeaders: ["X-Remote-User"],
  uidHeaders: ["X-Remote-Uid"],
  groupHeaders: ["X-Remote-Group"],
  extraHeaderPrefixes: ["X-Remote-Extra-"],
};

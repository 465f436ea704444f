import type { FrontProxyOptions } from "../access/authentication/front-proxy.ts";
import { frontProxyClientName, type OwnFrontProxy } from "../access/certificates/own-front-proxy.ts";
import type { ConfigMap } from "../api/types/core-v1.ts";
import { joinedAuthentication } from "./joined-authentication.ts";

export interface ExtensionAuthenticationParts {
  /** Returns the PEM of the authorities of clients. */
  readonly clientAuthorities: () => string;
  /** Undefined if flags describe no authenticating proxy. */
  readonly frontProxy: PublishedFrontProxy | undefined;
  /** This server as the proxy in front of the servers of APIServices, where flags name no other. */
  readonly ownFrontProxy: Pick<OwnFrontProxy, "authority">;
  /** Whether other programs on the same store publish their authorities too, as kube-apiservers do; by default not. */
  readonly isOnEtcd?: boolean;
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
  isOnEtcd = false,
}: ExtensionAuthenticationParts): (current: ConfigMap | undefined) => Record<string, string> {
  return (current) => {
    const published = current?.data?.[authorityKey];
    const authority = frontProxy === undefined ? ownFrontProxy.authority(published) : (frontProxy.authority() ?? "");
    const { usernameHeaders, uidHeaders, groupHeaders, extraHeaderPrefixes, allowedNames } = frontProxy ?? ownNames;
    const own: Record<string, string> = {
      "client-ca-file": clientAuthorities(),
      [authorityKey]: authority,
      "requestheader-allowed-names": JSON.stringify(allowedNames),
      "requestheader-username-headers": JSON.stringify(usernameHeaders),
      ...(uidHeaders.length === 0 ? {} : { "requestheader-uid-headers": JSON.stringify(uidHeaders) }),
      "requestheader-group-headers": JSON.stringify(groupHeaders),
      "requestheader-extra-headers-prefix": JSON.stringify(extraHeaderPrefixes),
    };
    return isOnEtcd ? joinedAuthentication(current?.data ?? {}, own) : own;
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

import type { Clock } from "../../process/clock.ts";
import type { PeerCertificate } from "../../request/exchange.ts";
import { anonymousUser, type UserInfo } from "../../request/user-info.ts";
import { AuthenticationFailure, type Authenticator, unauthenticatedGroup } from "./authenticator.ts";

export const credentialIdExtra = "authentication.kubernetes.io/credential-id";

/**
 * Returns an authenticator that maps the common name to the user name, organizations to groups, and, if `uids` is on, the
 * certificate's uid. The listener has verified chain and purpose at the handshake. Checks the validity again for every
 * request, because connections outlive certificates.
 */
export function clientCertificateAuthenticator(clock: Clock, { uids = true } = {}): Authenticator {
  const users = new WeakMap<PeerCertificate, UserInfo>();
  return {
    authenticate({ peer }) {
      if (peer.kind === "none") return undefined;
      if (peer.kind === "rejected") throw refused(peer.reason);
      // A certificate of the proxies' authority may speak for others, and has no user itself.
      if (peer.isFrontProxy === true) return undefined;
      refuseOutdated(peer, clock);
      let user = users.get(peer);
      if (user === undefined) {
        user = userOf(peer, uids);
        users.set(peer, user);
      }
      return user;
    },
  };
}

/**
 * Rejects a certificate outside of its validity, because connections outlive certificates. @throws
 * AuthenticationFailure
 */
export function refuseOutdated(peer: PeerCertificate & { kind: "verified" }, clock: Clock): void {
  const now = clock.nowMs();
  if (now > peer.validToMs) throw refused("the client certificate has expired");
  if (now < peer.validFromMs) throw refused("the client certificate is not valid yet");
}

function userOf(peer: PeerCertificate & { kind: "verified" }, withUid: boolean): UserInfo {
  if (peer.commonName === "") throw refused("the client certificate has no common name");
  if (peer.commonName === anonymousUser.name || peer.organizations.includes(unauthenticatedGroup)) {
    throw refused("the client certificate names the anonymous user");
  }
  const fingerprint = peer.fingerprint256.replaceAll(":", "").toLowerCase();
  return {
    name: peer.commonName,
    uid: withUid ? (peer.uid ?? "") : "",
    groups: peer.organizations,
    extra: new Map([[credentialIdExtra, [`X509SHA256=${fingerprint}`]]]),
  };
}

function refused(reason: string): AuthenticationFailure {
  return new AuthenticationFailure(reason, { decisive: false });
}

import type { Clock } from "../../api/clock.ts";
import { AuthenticationFailure } from "../authenticator.ts";
import { commonAudiences, type TokenAnswer, type TokenAuthenticator } from "../token-authenticator.ts";
import type { UserInfo } from "../user-info.ts";
import { type BoundObject, legacyIssuer, type ServiceAccountClaims, serviceAccountUserName } from "./claims.ts";
import type { TokenKey } from "./keys.ts";
import type { BoundResource, LiveObjects } from "./live-objects.ts";
import { claimedIssuer, VerifiedTokens } from "./verified-tokens.ts";

/** Clocks of servers that share a key may differ by this much; nothing is accepted beyond it. */
const clockSkewMs = 60_000;
/** Pods that are being deleted go on with their tokens for this long. */
const deletionLeewayMs = 60_000;
const extraPrefix = "authentication.kubernetes.io/";

export interface ServiceAccountTokenOptions {
  /** All whose tokens are accepted. */
  readonly issuers: readonly string[];
  readonly keys: readonly TokenKey[];
  /** What a token of a Secret is meant for: it names no audience. */
  readonly apiAudiences: readonly string[];
  /** Whether a token of a Secret ends with its Secret and account. Tokens of a TokenRequest always end with theirs. */
  readonly lookup: boolean;
  readonly objects: LiveObjects;
  readonly clock: Clock;
}

/**
 * Tokens of service accounts: signed by one of our keys, and good for as long as the account and what the token is bound
 * to exist under the same uid.
 */
export function serviceAccountAuthenticator(options: ServiceAccountTokenOptions): TokenAuthenticator {
  const { objects, clock } = options;
  const issuers = new Set([...options.issuers, legacyIssuer]);
  const verified = new VerifiedTokens(options.keys);
  const users = new WeakMap<ServiceAccountClaims, UserInfo>();

  return {
    authenticateToken(token, audiences) {
      const issuer = claimedIssuer(token);
      if (issuer === undefined || !issuers.has(issuer)) return undefined;
      const claims = verified.claims(token);
      return claims instanceof Promise ? claims.then((found) => judge(found, audiences)) : judge(claims, audiences);
    },
  };

  function judge(claims: ServiceAccountClaims | undefined, asked: readonly string[]): TokenAnswer {
    if (claims === undefined) throw refused("invalid bearer token");
    const now = clock.nowMs();
    if (now > claims.expires * 1_000 + clockSkewMs) throw refused("service account token has expired");
    if (now < claims.notBefore * 1_000 - clockSkewMs) throw refused("service account token is not valid yet");
    const audiences = commonAudiences(asked, claims.audiences ?? options.apiAudiences);
    if (audiences.length === 0) throw refused("token audiences are not among those of this server");
    if (claims.audiences !== undefined || options.lookup) checkObjects(claims, now);
    return { user: userOf(claims), audiences };
  }

  function checkObjects(claims: ServiceAccountClaims, now: number): void {
    const { namespace, serviceAccount, pod, secret, node } = claims;
    check("serviceaccounts", namespace, serviceAccount, now);
    if (pod !== undefined) check("pods", namespace, pod, now);
    if (secret !== undefined) check("secrets", namespace, secret, now);
    // A pod's node stands in its token for information; a token that is bound to a node ends with it.
    if (node !== undefined && pod === undefined) check("nodes", "", node, now);
  }

  /** Tokens of Secrets do not say which Secret of that name they are of. */
  function check(resource: BoundResource, namespace: string, { name, uid }: BoundObject, now: number): void {
    const object = objects.find(resource, namespace, name);
    if (object === undefined) throw refused(`a ${resource} object of the token does not exist any more`);
    if (uid !== "" && object.uid !== uid) throw refused(`a ${resource} object of the token is another one by now`);
    if (object.deletedMs !== undefined && now > object.deletedMs + deletionLeewayMs) {
      throw refused(`a ${resource} object of the token is being deleted`);
    }
  }

  function userOf(claims: ServiceAccountClaims): UserInfo {
    let user = users.get(claims);
    if (user === undefined) {
      user = serviceAccountUser(claims);
      users.set(claims, user);
    }
    return user;
  }
}

function serviceAccountUser({ namespace, serviceAccount, pod, node, id }: ServiceAccountClaims): UserInfo {
  const extra = new Map<string, readonly string[]>();
  const set = (name: string, value: string | undefined) => {
    if (value !== undefined && value !== "") extra.set(extraPrefix + name, [value]);
  };
  set("credential-id", id === "" ? undefined : `JTI=${id}`);
  set("node-name", node?.name);
  set("node-uid", node?.uid);
  set("pod-name", pod?.name);
  set("pod-uid", pod?.uid);
  return {
    name: serviceAccountUserName(namespace, serviceAccount.name),
    uid: serviceAccount.uid,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`],
    extra,
  };
}

function refused(reason: string): AuthenticationFailure {
  return new AuthenticationFailure(reason, { decisive: false });
}

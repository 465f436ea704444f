import type { Clock } from "../../../process/clock.ts";
import { serviceAccountGroups, serviceAccountUserName } from "../../../request/service-account-user.ts";
import type { UserInfo } from "../../../request/user-info.ts";
import type { TokenUse } from "../authentication-observer.ts";
import { AuthenticationFailure } from "../authenticator.ts";
import { commonAudiences, type TokenAnswer, type TokenAuthenticator } from "../token-authenticator.ts";
import { type BoundObject, legacyIssuer, type ServiceAccountClaims } from "./claims.ts";
import type { TokenKey } from "./keys.ts";
import type { BoundResource, LiveObjects } from "./live-objects.ts";
import { invalidSinceLabel } from "./token-secret.ts";
import { claimedIssuer, VerifiedTokens } from "./verified-tokens.ts";

/** Clock difference allowed between servers that share a key. */
const clockSkewMs = 60_000;
/** Time for which pods that are being deleted may still use their tokens. */
const deletionLeewayMs = 60_000;
const extraPrefix = "authentication.kubernetes.io/";
const legacyTokenNote = "authentication.k8s.io/legacy-token";
const staleTokenNote = "authentication.k8s.io/stale-token";

export interface ServiceAccountTokenOptions {
  /** Accepted issuers. */
  readonly issuers: readonly string[];
  readonly keys: readonly TokenKey[];
  /** Audiences of a Secret's token, which names none. */
  readonly apiAudiences: readonly string[];
  /** Whether a Secret's token ends with its Secret and account. Tokens of a TokenRequest always do. */
  readonly lookup: boolean;
  readonly objects: LiveObjects;
  readonly clock: Clock;
  /** Called for each use of a Secret's token. */
  onSecretUsed?(namespace: string, name: string): void;
  /** Called for each accepted token. */
  onUse?(kind: TokenUse): void;
}

/**
 * Authenticates tokens of service accounts: signed by one of our keys, and valid while the account and the bound object
 * exist with the same uid.
 */
export function serviceAccountAuthenticator(options: ServiceAccountTokenOptions): TokenAuthenticator {
  const { objects, clock } = options;
  const issuers = new Set([...options.issuers, legacyIssuer]);
  const verified = new VerifiedTokens(options.keys);
  const users = new WeakMap<ServiceAccountClaims, UserInfo>();

  return {
    authenticateToken(token, audiences) {
      const known = verified.known(token);
      if (known !== undefined) return judge(token, known, audiences);
      const issuer = claimedIssuer(token);
      if (issuer === undefined || !issuers.has(issuer)) return undefined;
      return verified.verify(token).then((claims) => judge(token, claims, audiences));
    },
  };

  function judge(token: string, claims: ServiceAccountClaims | undefined, asked: readonly string[]): TokenAnswer {
    if (claims === undefined) throw refused("invalid bearer token");
    const now = clock.nowMs();
    if (now > claims.expires * 1_000 + clockSkewMs) throw refused("service account token has expired");
    if (now < claims.notBefore * 1_000 - clockSkewMs) throw refused("service account token is not valid yet");
    if (now < claims.issuedAt * 1_000 - clockSkewMs) throw refused("service account token is from the future");
    const audiences = commonAudiences(asked, claims.audiences ?? options.apiAudiences);
    if (audiences.length === 0) throw refused("token audiences are not among those of this server");
    if (claims.audiences === undefined) return judgeSecretToken(token, claims, audiences);
    checkObjects(claims, now);
    const notes = staleness(claims, now);
    options.onUse?.(notes === undefined ? "valid" : "stale");
    return { user: userOf(claims), audiences, notes };
  }

  /** Checks a Secret's token. It names its Secret without a uid, so the Secret must still contain exactly this token. */
  function judgeSecretToken(token: string, claims: ServiceAccountClaims, audiences: readonly string[]): TokenAnswer {
    const { namespace, serviceAccount, secret } = claims;
    const subject = serviceAccountUserName(namespace, serviceAccount.name);
    const answer = { user: userOf(claims), audiences, notes: [[legacyTokenNote, subject]] as const };
    if (!options.lookup || secret === undefined) {
      options.onUse?.("legacy");
      return answer;
    }
    const holder = objects.find("secrets", namespace, secret.name);
    if (holder === undefined || holder.deletedMs !== undefined)
      throw refused("the Secret of the token no longer exists");
    if (holder.token !== Buffer.from(token).toString("base64")) throw refused("the Secret now contains another token");
    const account = objects.find("serviceaccounts", namespace, serviceAccount.name);
    if (account === undefined || account.deletedMs !== undefined)
      throw refused("the account of the token no longer exists");
    if (account.uid !== serviceAccount.uid) throw refused("the account of the token has been replaced");
    if ((holder.labels[invalidSinceLabel] ?? "") !== "") throw refused("the token of the Secret is marked as invalid");
    options.onSecretUsed?.(namespace, secret.name);
    options.onUse?.("legacy");
    return answer;
  }

  function checkObjects(claims: ServiceAccountClaims, now: number): void {
    const { namespace, serviceAccount, pod, secret, node } = claims;
    check("serviceaccounts", namespace, serviceAccount, now);
    if (pod !== undefined) check("pods", namespace, pod, now);
    if (secret !== undefined) check("secrets", namespace, secret, now);
    // The node in a pod's token is informational. A token that is bound to a node ends with the node.
    if (node !== undefined && pod === undefined) check("nodes", "", node, now);
  }

  function check(resource: BoundResource, namespace: string, { name, uid }: BoundObject, now: number): void {
    const object = objects.find(resource, namespace, name);
    if (object === undefined) throw refused(`a ${resource} object of the token no longer exists`);
    if (object.uid !== uid) throw refused(`a ${resource} object of the token has been replaced`);
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

/** Returns a note for a token that is used after its own renewal time, because its holder does not reread it. */
function staleness(claims: ServiceAccountClaims, nowMs: number): TokenAnswer["notes"] {
  const { warnAfter, namespace, serviceAccount } = claims;
  const seconds = Math.floor(nowMs / 1_000) - (warnAfter ?? Number.POSITIVE_INFINITY);
  if (seconds <= 0) return undefined;
  const subject = serviceAccountUserName(namespace, serviceAccount.name);
  return [[staleTokenNote, `subject: ${subject}, seconds after warning threshold: ${seconds}`]];
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
    groups: serviceAccountGroups(namespace),
    extra,
  };
}

function refused(reason: string): AuthenticationFailure {
  return new AuthenticationFailure(reason, { decisive: false });
}

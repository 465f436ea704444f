import type { JSONWebKeySet, JWK, JWTPayload } from "jose";
import type { Clock } from "../../../process/clock.ts";
import { AuthenticationFailure } from "../authenticator.ts";
import { claimedIssuer } from "../service-account/verified-tokens.ts";
import type { TokenAnswer, TokenAuthenticator } from "../token-authenticator.ts";
import { commonAudiences } from "../token-authenticator.ts";
import type { JwtIssuer } from "./authentication-configuration.ts";
import { userOf } from "./mapped-user.ts";

/**
 * Minimum time between two fetches. An unknown key may be new, but made-up key ids must not cause more requests than
 * this.
 */
const refetchMsMin = 10_000;
/** Age at which known keys are fetched again, so that withdrawn ones become invalid. */
const keysMaxAgeMs = 10 * 60_000;
/**
 * Minimum time between two reports of withdrawals. Other replicas fetch the keys after a report, so an issuer with
 * varying answers would keep them busy.
 */
const withdrawalsToldMsMin = 60_000;
const clockSkewSeconds = 10;

export interface JwtAuthenticatorParts {
  readonly issuer: JwtIssuer;
  /** The audiences of an accepted token, which does not name this server. */
  readonly apiAudiences: readonly string[];
  /** Fetches the issuer's key set, found by its discovery document. */
  readonly fetchKeys: () => Promise<JSONWebKeySet>;
  readonly clock: Clock;
  /** Called when the issuer has withdrawn known keys: at most once a minute, and only when a token arrives afterwards. */
  readonly onKeyWithdrawn: () => void;
}

export interface JwtAuthenticator extends TokenAuthenticator {
  /** Makes the next token fetch the keys again, because known ones may be withdrawn. */
  doubtKeys(): void;
}

/** Authenticates ID tokens of an OpenID provider. Uses their claims as the configuration maps them. */
export function jwtAuthenticator({
  issuer,
  apiAudiences,
  fetchKeys,
  clock,
  onKeyWithdrawn,
}: JwtAuthenticatorParts): JwtAuthenticator {
  const keys = new IssuerKeys(fetchKeys, clock, onKeyWithdrawn);
  return {
    doubtKeys: () => keys.doubt(),
    authenticateToken(token, asked) {
      if (claimedIssuer(token) !== issuer.url) return undefined;
      return verified(token, issuer, keys, clock).then((claims): TokenAnswer => {
        refuseFuture(claims, clock);
        for (const [claim, value] of issuer.requiredClaims) {
          if (claims[claim] !== value) throw refused(`the claim ${claim} does not have the required value`);
        }
        const audiences = commonAudiences(asked, apiAudiences);
        if (audiences.length === 0 && apiAudiences.length > 0) throw refused("the token is only for this server");
        return { user: userOf(claims, issuer), audiences };
      });
    },
  };
}

/** Rejects a token from the future. @throws AuthenticationFailure */
function refuseFuture({ iat = 0 }: JWTPayload, clock: Clock): void {
  if (typeof iat !== "number" || iat > clock.nowMs() / 1_000 + clockSkewSeconds) {
    throw refused("the token is from the future");
  }
}

async function verified(token: string, issuer: JwtIssuer, keys: IssuerKeys, clock: Clock): Promise<JWTPayload> {
  const { jwtVerify, errors } = await import("jose");
  const verify = async () =>
    jwtVerify(token, await keys.resolver(), {
      issuer: issuer.url,
      audience: [...issuer.audiences],
      algorithms: [...issuer.algorithms],
      currentDate: new Date(clock.nowMs()),
      clockTolerance: clockSkewSeconds,
      requiredClaims: ["exp"],
    });
  try {
    return (await verify()).payload;
  } catch (error) {
    const isUnknownKey = error instanceof errors.JWKSNoMatchingKey;
    if (!isUnknownKey || !(await keys.refetch())) throw refused(`the token is not valid: ${(error as Error).message}`);
  }
  try {
    return (await verify()).payload;
  } catch (error) {
    throw refused(`the token is not valid: ${(error as Error).message}`);
  }
}

/**
 * The key set of one issuer. It is fetched when first needed, and again when it is old, possibly outdated or lacks a key.
 * Known keys stay valid during a fetch and while the issuer does not answer.
 */
class IssuerKeys {
  readonly #fetch: () => Promise<JSONWebKeySet>;
  readonly #clock: Clock;
  readonly #onWithdrawn: () => void;
  #known: JSONWebKeySet | undefined;
  #fetching: Promise<JSONWebKeySet> | undefined;
  #askedMs = Number.NEGATIVE_INFINITY;
  #isDoubted = false;
  #failure: unknown;
  #hasUntoldWithdrawal = false;
  #toldMs = Number.NEGATIVE_INFINITY;

  constructor(fetchKeys: () => Promise<JSONWebKeySet>, clock: Clock, onWithdrawn: () => void) {
    this.#fetch = fetchKeys;
    this.#clock = clock;
    this.#onWithdrawn = onWithdrawn;
  }

  doubt(): void {
    this.#isDoubted = true;
  }

  /** Returns the key resolver. @throws Error while no keys are known and the issuer cannot be reached */
  async resolver() {
    const { createLocalJWKSet } = await import("jose");
    const ageMs = this.#clock.steadyMs() - this.#askedMs;
    if (this.#known === undefined) return createLocalJWKSet(await this.#first(ageMs));
    this.#tellOfWithdrawals();
    // Do not make the caller wait, because its key is most likely among the known ones.
    if (ageMs > (this.#isDoubted ? refetchMsMin : keysMaxAgeMs)) this.#ask().catch(() => undefined);
    return createLocalJWKSet(this.#known);
  }

  /** Fetches the keys again. Returns false if a fetch was made just before or has failed. */
  async refetch(): Promise<boolean> {
    const ageMs = this.#clock.steadyMs() - this.#askedMs;
    if (this.#fetching === undefined && ageMs < refetchMsMin) return false;
    return this.#ask().then(
      () => true,
      () => false,
    );
  }

  /** Fetches the first keys. Waits after a failure, so that made-up tokens cause no requests. */
  #first(ageMs: number): Promise<JSONWebKeySet> {
    if (this.#fetching === undefined && ageMs < refetchMsMin) return Promise.reject(this.#failure);
    return this.#ask();
  }

  /** Fetches the keys. Concurrent callers share one request. */
  #ask(): Promise<JSONWebKeySet> {
    this.#fetching ??= this.#fetchOnce().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #fetchOnce(): Promise<JSONWebKeySet> {
    this.#askedMs = this.#clock.steadyMs();
    this.#isDoubted = false;
    const before = this.#known;
    const known = await this.#fetched();
    this.#known = known;
    this.#hasUntoldWithdrawal ||= before !== undefined && lacksAny(before, known);
    this.#tellOfWithdrawals();
    return known;
  }

  async #fetched(): Promise<JSONWebKeySet> {
    try {
      return await this.#fetch();
    } catch (error) {
      this.#failure = error;
      // The known keys may be outdated, so the next attempt comes soon.
      this.#isDoubted = true;
      throw error;
    }
  }

  #tellOfWithdrawals(): void {
    const nowMs = this.#clock.steadyMs();
    if (!this.#hasUntoldWithdrawal || nowMs - this.#toldMs < withdrawalsToldMsMin) return;
    this.#hasUntoldWithdrawal = false;
    this.#toldMs = nowMs;
    this.#onWithdrawn();
  }
}

function lacksAny(before: JSONWebKeySet, now: JSONWebKeySet): boolean {
  const left = new Set(now.keys.map(identityOf));
  return before.keys.some((key) => !left.has(identityOf(key)));
}

/** Returns the identity of a key, independent of the order of its fields and its other metadata. */
function identityOf({ kid, kty, crv, x, y, n, e, pub }: JWK): string {
  return JSON.stringify([kid, kty, crv, x, y, n, e, pub]);
}

/** Maps claims to a user. @throws AuthenticationFailure for unsuitable claims */
function refused(reason: string): AuthenticationFailure {
  return new AuthenticationFailure(reason, { decisive: false });
}

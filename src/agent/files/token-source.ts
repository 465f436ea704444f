import { numberOf, objectOf, textOf } from "../../api/json-reading.ts";
import type { Pod, ServiceAccount, ServiceAccountTokenProjection } from "../../api/types/core-v1.ts";
import type { Client, ResourceType } from "../../client/client.ts";
import type { Clock } from "../../process/clock.ts";
import { thrownText } from "../../process/thrown-text.ts";

const serviceAccounts: ResourceType<ServiceAccount> = { group: "", version: "v1", resource: "serviceaccounts" };

/** Share of a token's life after which it is replaced. */
const freshShare = 0.8;
/** Age at which a token is replaced even if it lives longer. */
const ageMsMax = 24 * 60 * 60_000;
/** Longest time by which a replacement comes early, so that nodes do not ask at the same time. */
const jitterMsMax = 10_000;
const cleanUpMs = 60_000;
const expirationSecondsDefault = 3_600;

interface IssuedToken {
  readonly token: string;
  readonly podUid: string;
  readonly expiresAtMs: number;
  readonly lifetimeMs: number;
}

export interface TokenSourceParts {
  readonly client: Pick<Client, "act">;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly onError: (error: unknown) => void;
}

/** Requests the tokens of pods, and replaces them in time. Tokens are kept in memory only. */
export class TokenSource implements Disposable {
  readonly #parts: TokenSourceParts;
  readonly #issued = new Map<string, IssuedToken>();
  readonly #cleanUp: Disposable;

  constructor(parts: TokenSourceParts) {
    this.#parts = parts;
    this.#cleanUp = parts.clock.every(cleanUpMs, () => this.#dropExpired());
  }

  /** Returns a token that is bound to the pod. @throws Error if none can be had and the last one has expired */
  async tokenFor(pod: Pod, { audience = "", expirationSeconds }: ServiceAccountTokenProjection): Promise<string> {
    const { namespace = "", name = "", uid = "" } = pod.metadata;
    const account = pod.spec?.serviceAccountName ?? "";
    const seconds = Number(expirationSeconds ?? expirationSecondsDefault);
    const key = JSON.stringify([namespace, account, audience, seconds, name, uid]);
    const known = this.#issued.get(key);
    if (known !== undefined && this.#isFresh(known)) return known.token;
    try {
      const issued = await this.#request(pod, account, audience, seconds);
      this.#issued.set(key, issued);
      return issued.token;
    } catch (error) {
      if (known === undefined) throw new Error(`failed to fetch token: ${thrownText(error)}`);
      if (this.#isExpired(known)) throw new Error(`token ${key} expired and refresh failed: ${thrownText(error)}`);
      this.#parts.onError(error);
      return known.token;
    }
  }

  /** Forgets the tokens of a pod that has ended. */
  forget(podUid: string): void {
    for (const [key, issued] of this.#issued) if (issued.podUid === podUid) this.#issued.delete(key);
  }

  [Symbol.dispose](): void {
    this.#cleanUp[Symbol.dispose]();
    this.#issued.clear();
  }

  async #request(pod: Pod, account: string, audience: string, expirationSeconds: number): Promise<IssuedToken> {
    const { namespace = "", name = "", uid = "" } = pod.metadata;
    const body = {
      kind: "TokenRequest",
      apiVersion: "authentication.k8s.io/v1",
      spec: {
        audiences: audience === "" ? null : [audience],
        expirationSeconds,
        boundObjectRef: { kind: "Pod", apiVersion: "v1", name, uid },
      },
    };
    const answer = objectOf(
      await this.#parts.client.act(serviceAccounts, { namespace, name: account, subresource: "token" }, body),
    );
    const status = objectOf(answer["status"]);
    const token = textOf(status["token"]);
    const expiresAtMs = Date.parse(textOf(status["expirationTimestamp"]));
    if (token === "" || Number.isNaN(expiresAtMs)) throw new Error("the server sent no token");
    const lifetimeMs = (numberOf(objectOf(answer["spec"])["expirationSeconds"]) || expirationSeconds) * 1_000;
    return { token, podUid: uid, expiresAtMs, lifetimeMs };
  }

  #isFresh({ expiresAtMs, lifetimeMs }: IssuedToken): boolean {
    const { clock, random } = this.#parts;
    const issuedAtMs = expiresAtMs - lifetimeMs;
    const ageMs = clock.nowMs() - issuedAtMs;
    return ageMs <= Math.min(ageMsMax, lifetimeMs * freshShare) - random() * jitterMsMax;
  }

  #isExpired({ expiresAtMs }: IssuedToken): boolean {
    return this.#parts.clock.nowMs() > expiresAtMs;
  }

  #dropExpired(): void {
    for (const [key, issued] of this.#issued) if (this.#isExpired(issued)) this.#issued.delete(key);
  }
}

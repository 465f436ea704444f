import { randomBytes, randomUUID } from "node:crypto";
import type { Clock } from "../../../process/clock.ts";
import { thrownText } from "../../../process/thrown-text.ts";
import { keyIdHash, keyIdProblem, refuseInvalidSeed } from "./encrypted-object.ts";
import type { EncryptedSeed, KeyService, KeyServiceStatus } from "./key-service.ts";
import type { KeyServiceObserver } from "./key-service-observer.ts";
import { SeedCipher, seedBytes } from "./seed-cipher.ts";

/** Upstream's times. */
const healthyIntervalMs = 60_000;
const unhealthyIntervalMs = 10_000;
const healthyTtlMs = 20_000;
const unhealthyTtlMs = 3_000;
const writableMs = 3 * 60_000;

const apiVersions = ["v2", "v2beta1"];

/** The seed of new values. */
export interface WriteSeed {
  readonly cipher: SeedCipher;
  readonly seed: EncryptedSeed;
  /** Time on the steady clock until which it may encrypt. Reading with it is always possible. */
  readonly expiresAtMs: number;
}

export interface WriteSeedOptions {
  readonly provider: string;
  readonly service: KeyService;
  readonly clock: Clock;
  readonly observer: KeyServiceObserver;
  /** Called with each new seed. */
  readonly onRotated: (seed: WriteSeed) => void;
  /** Called with the reason when a check in the background fails. */
  readonly onUnhealthy: (error: unknown) => void;
}

/**
 * Makes the seed of a provider, and a new one whenever the key of the service changes. Checks the service all the time:
 * while it does not answer, the last seed encrypts for three more minutes.
 */
export class WriteSeedSource implements Disposable {
  readonly #options: WriteSeedOptions;
  #current: WriteSeed | undefined;
  #version: string | undefined;
  #last: { readonly atMs: number; readonly ttlMs: number; readonly error: unknown } | undefined;
  #checking: Promise<void> | undefined;
  #timer: Disposable | undefined;
  #isClosed = false;

  constructor(options: WriteSeedOptions) {
    this.#options = options;
  }

  /** @throws Error with upstream's message if there has not been a seed yet */
  current(): WriteSeed {
    if (this.#current === undefined) throw new Error("got unexpected nil transformer");
    return this.#current;
  }

  /** @throws Error with upstream's message if no seed may encrypt now */
  writable(): WriteSeed {
    const current = this.current();
    const { clock } = this.#options;
    if (clock.steadyMs() <= current.expiresAtMs) return current;
    const hash = JSON.stringify(keyIdHash(current.seed.keyId));
    throw new Error(
      `encryptedDEKSource with keyID hash ${hash} expired at ${this.#timeText(current.expiresAtMs)} (current time is ${timeText(clock.nowMs())})`,
    );
  }

  /** Checks the service once, and again until it is closed. Resolves after the first check. */
  async start(): Promise<void> {
    let intervalMs = healthyIntervalMs;
    try {
      await this.check();
    } catch (error) {
      this.#options.onUnhealthy(error);
      intervalMs = unhealthyIntervalMs;
    }
    if (!this.#isClosed) this.#timer = this.#options.clock.after(intervalMs, () => void this.start());
  }

  /** Rejects if the service is not healthy. Returns the last outcome while that is recent. */
  check(): Promise<void> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#timer?.[Symbol.dispose]();
  }

  async #check(): Promise<void> {
    const { clock, service, provider } = this.#options;
    if (this.#last !== undefined && clock.steadyMs() - this.#last.atMs < this.#last.ttlMs) {
      if (this.#last.error !== undefined) throw this.#last.error;
      return;
    }
    const ended = (error?: unknown) => {
      this.#last = { atMs: clock.steadyMs(), ttlMs: error === undefined ? healthyTtlMs : unhealthyTtlMs, error };
    };
    let status: KeyServiceStatus;
    try {
      status = await service.status();
    } catch (error) {
      ended(error);
      const section = `failed to perform status section of the healthz check for KMS Provider ${provider}`;
      throw new Error(`${section}, error: ${thrownText(error)}`);
    }
    const problems = await this.#problemsOf(status);
    if (problems.length === 0) return ended();
    const reason = problems.length === 1 ? problems[0] : `[${problems.join(", ")}]`;
    const error = new Error(`kmsv2 Provider ${provider} is not healthy, error: ${reason}`);
    ended(error);
    throw error;
  }

  async #problemsOf({ version, healthz, keyId }: KeyServiceStatus): Promise<string[]> {
    const { provider, observer } = this.#options;
    const problems: string[] = [];
    if (healthz !== "ok") problems.push(`got unexpected healthz status: ${healthz}`);
    if (apiVersions.includes(version)) {
      this.#version ??= version;
      if (this.#version !== version) {
        problems.push(
          `KMSv2 API version should not change after the initial status response version ${this.#version}, got ${version}`,
        );
      }
    } else problems.push(`expected KMSv2 API version ${apiVersions[0]}, got ${version}`);
    const keyProblem = keyIdProblem(keyId);
    if (keyProblem !== undefined) {
      observer.wrongKeyReported(provider, keyProblem.kind);
      problems.push(`got invalid KMSv2 KeyID hash ${JSON.stringify(keyIdHash(keyId))}: ${keyProblem.message}`);
      return problems;
    }
    observer.keyReported(provider, keyId);
    const failure = await this.#follow(keyId);
    return failure === undefined ? problems : [...problems, failure];
  }

  /** Makes a seed with this key, or keeps the one that there is. Returns the reason why neither is possible. */
  async #follow(keyId: string): Promise<string | undefined> {
    const { clock, onRotated } = this.#options;
    // The time counts from before the call.
    const expiresAtMs = clock.steadyMs() + writableMs;
    if (this.#current?.seed.keyId === keyId) {
      this.#current = { ...this.#current, expiresAtMs };
      return undefined;
    }
    const uid = randomUUID();
    let made: Pick<WriteSeed, "cipher" | "seed"> | undefined;
    let failure = "<nil>";
    try {
      made = await this.#make(uid);
    } catch (error) {
      failure = thrownText(error);
    }
    if (made?.seed.keyId === keyId) {
      this.#current = { ...made, expiresAtMs };
      onRotated(this.#current);
      return undefined;
    }
    const before = this.#current;
    const parts = [
      `uid=${JSON.stringify(uid)}`,
      "useSeed=true",
      `errState=${before === undefined ? "got unexpected nil transformer" : "<nil>"}`,
      `errGen=${failure}`,
      `statusKeyIDHash=${JSON.stringify(keyIdHash(keyId))}`,
      `encryptKeyIDHash=${JSON.stringify(keyIdHash(made?.seed.keyId ?? ""))}`,
      `stateKeyIDHash=${JSON.stringify(keyIdHash(before?.seed.keyId ?? ""))}`,
      `expirationTimestamp=${before === undefined ? "0001-01-01T00:00:00Z" : this.#timeText(before.expiresAtMs)}`,
    ];
    return `failed to rotate DEK ${parts.join(", ")}`;
  }

  async #make(uid: string): Promise<Pick<WriteSeed, "cipher" | "seed">> {
    const { service, observer } = this.#options;
    const startedMs = performance.now();
    const plain = randomBytes(seedBytes);
    observer.seedMade((performance.now() - startedMs) / 1_000);
    let seed: EncryptedSeed;
    try {
      seed = await service.encrypt(uid, plain);
    } catch (error) {
      throw new Error(`failed to encrypt DEK, error: ${thrownText(error)}`);
    }
    refuseInvalidSeed(seed);
    return { cipher: new SeedCipher(plain), seed };
  }

  /** Writes a time on the steady clock as a time of the system's clock. */
  #timeText(atMs: number): string {
    const { clock } = this.#options;
    return timeText(clock.nowMs() + atMs - clock.steadyMs());
  }
}

function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

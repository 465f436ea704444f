import { X509Certificate } from "node:crypto";
import type { KeyPair } from "../../access/certificates/authority.ts";
import { Backoff } from "../../client/backoff.ts";
import type { Clock } from "../../process/clock.ts";
import { RepeatedTask } from "../../process/repeated-task.ts";
import { readCertificateFile, writeCertificateFile } from "./certificate-file.ts";
import type { NodeSigner, NodeSubject, WantedCertificate } from "./request-certificate.ts";

/** Part of its life after which a certificate is renewed; a random time, so that nodes do not all come at once. */
const renewalPartMin = 0.7;
const renewalPartMax = 0.9;
/** Longest time between two looks at the names and the clock. */
const checkMsMax = 60_000;
/** Interval of the looks while the names are not known yet. */
const unnamedMs = 1_000;
/** Time that one request may wait for its approval. */
const requestMsMax = 15 * 60_000;
const retryMsMin = 2_000;
const retryMsMax = 32_000;

export interface RotatingCertificateParts {
  /** File of the certificate and its key. */
  readonly file: string;
  readonly signer: NodeSigner;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  /** Returns the names of the certificate; undefined while they are not known. */
  subject(): NodeSubject | undefined;
  request(wanted: WantedCertificate): Promise<KeyPair>;
  /** Called after each change, when the file is written. */
  onChanged(pair: KeyPair): void;
  onError(error: unknown): void;
}

/** A certificate of a node that is renewed before it expires, and when its names change. */
export class RotatingCertificate implements Disposable {
  readonly #parts: RotatingCertificateParts;
  readonly #task: RepeatedTask;
  #current: { readonly pair: KeyPair; readonly parsed: X509Certificate; readonly renewalMs: number } | undefined;
  /** Upstream's waits, which do not vary. */
  readonly #retry = new Backoff(retryMsMin, retryMsMax, () => 0);
  #isDisposed = false;

  private constructor(parts: RotatingCertificateParts, kept: KeyPair | undefined) {
    this.#parts = parts;
    if (kept !== undefined) this.#use(kept);
    this.#task = new RepeatedTask(parts.clock, () => this.#check());
  }

  /** Starts with the certificate in the file, if there is one. @throws StartupError if others may read the file */
  static async open(parts: RotatingCertificateParts): Promise<RotatingCertificate> {
    return new RotatingCertificate(parts, await readCertificateFile(parts.file));
  }

  /** The current certificate; undefined until the first one is issued. */
  get current(): KeyPair | undefined {
    return this.#current?.pair;
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#task[Symbol.dispose]();
  }

  /** Returns the time until the next check. */
  async #check(): Promise<number> {
    const { file, signer, clock, subject, request, onChanged, onError } = this.#parts;
    const names = subject();
    if (names === undefined) return unnamedMs;
    const leftMs = this.#remainingMs(names, clock.nowMs());
    if (leftMs > 0) return Math.min(leftMs, checkMsMax);
    try {
      const pair = await request({ signer, subject: names, waitMsMax: requestMsMax });
      if (this.#isDisposed) return checkMsMax;
      await writeCertificateFile(file, pair);
      this.#use(pair);
      this.#retry.reset();
      onChanged(pair);
      return Math.min(Math.max(this.#remainingMs(names, clock.nowMs()), retryMsMin), checkMsMax);
    } catch (error) {
      if (!this.#isDisposed) onError(error);
      return this.#retry.next();
    }
  }

  #use(pair: KeyPair): void {
    const parsed = new X509Certificate(pair.certificate);
    const fromMs = parsed.validFromDate.getTime();
    const lifeMs = parsed.validToDate.getTime() - fromMs;
    const part = renewalPartMin + (renewalPartMax - renewalPartMin) * this.#parts.random();
    this.#current = { pair, parsed, renewalMs: fromMs + part * lifeMs };
  }

  /** Returns the time until the renewal; 0 if it is due. */
  #remainingMs({ dnsNames, ipAddresses }: NodeSubject, nowMs: number): number {
    if (this.#current === undefined) return 0;
    const { parsed, renewalMs } = this.#current;
    const hasNames =
      dnsNames.every((name) => parsed.checkHost(name) !== undefined) &&
      ipAddresses.every((address) => parsed.checkIP(address) !== undefined);
    return hasNames ? Math.max(0, renewalMs - nowMs) : 0;
  }
}

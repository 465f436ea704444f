import type { Clock } from "../../process/clock.ts";
import { type AuthorityKind, type RotatingAuthority, type RotationStep, takeStep } from "./rotating-authority.ts";

/** Interval of the checks: short enough for a certificate that lives for a year, even after the machine slept. */
const renewalIntervalMs = 3_600_000;

export interface KeptCertificatesOptions<Certificates> {
  readonly clock: Clock;
  readonly kind: AuthorityKind;
  /** Directory; undefined for memory. */
  readonly directory: string | undefined;
  readonly current: Certificates;
  /** Keeps the good parts of `current` and creates the others. */
  open(current: Certificates): Promise<Certificates>;
}

/**
 * Certificates that are renewed before they expire, and whose authority can be replaced. Only one change runs at a time.
 */
export class KeptCertificates<Certificates extends RotatingAuthority> {
  readonly #options: KeptCertificatesOptions<Certificates>;
  #current: Certificates;
  /** Whether the consequences of `current` are complete. If not, the next change or check retries. */
  #isTold = true;
  #changing: Promise<unknown> = Promise.resolve();
  #onChanged: () => void | Promise<void> = () => {};

  constructor(options: KeptCertificatesOptions<Certificates>) {
    this.#options = options;
    this.#current = options.current;
  }

  get current(): Certificates {
    return this.#current;
  }

  /** Takes a rotation step. Resolves when its consequences are in use. @throws RotationError */
  rotate(step: RotationStep): Promise<void> {
    const { kind, directory, clock } = this.#options;
    return this.#change((current) => takeStep({ kind, directory, nowMs: clock.nowMs() }, current, step));
  }

  /**
   * Uses what another process has written to the directory, and renews what is due. Resolves when the consequences are in
   * use.
   */
  reread(): Promise<void> {
    return this.#change(async () => ({}));
  }

  /** Calls `onChanged` when `current` has changed. Renews nothing. */
  follow(onChanged: () => void | Promise<void>): void {
    this.#onChanged = onChanged;
  }

  /**
   * Checks every hour whether a certificate is past two thirds of its life.
   * @param onChanged called when `current` has changed; existing connections keep their certificates
   * @param onError receives the error of a failed check; the next one comes an hour later
   */
  keepFresh(onChanged: () => void | Promise<void>, onError: (error: unknown) => void): Disposable {
    this.follow(onChanged);
    return this.#options.clock.every(renewalIntervalMs, () => {
      this.reread().catch(onError);
    });
  }

  #change(change: (current: Certificates) => Promise<Partial<RotatingAuthority>>): Promise<void> {
    const changed = this.#changing.then(async () => {
      try {
        // Starts from the state on disk, because an earlier step may have failed halfway.
        await this.#reopen({});
        await this.#reopen(await change(this.#current));
      } finally {
        await this.#tell();
      }
    });
    this.#changing = changed.catch(() => undefined);
    return changed;
  }

  async #reopen(changes: Partial<RotatingAuthority>): Promise<void> {
    const opened = await this.#options.open({ ...this.#current, ...changes });
    if (JSON.stringify(opened) === JSON.stringify(this.#current)) return;
    this.#current = opened;
    this.#isTold = false;
  }

  async #tell(): Promise<void> {
    if (this.#isTold) return;
    await this.#onChanged();
    this.#isTold = true;
  }
}

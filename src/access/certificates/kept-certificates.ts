import type { Clock } from "../../process/clock.ts";
import { type AuthorityKind, type RotatingAuthority, type RotationStep, takeStep } from "./rotating-authority.ts";

/** Often enough for a certificate that lives for a year, and for a machine that slept. */
const renewalIntervalMs = 3_600_000;

export interface KeptCertificatesOptions<Certificates> {
  readonly clock: Clock;
  readonly kind: AuthorityKind;
  /** Undefined: in memory. */
  readonly directory: string | undefined;
  readonly current: Certificates;
  /** Keeps of `current` what is good, and makes the rest anew. */
  open(current: Certificates): Promise<Certificates>;
}

/** Certificates that are renewed before they end, and whose authority can be replaced: one change at a time. */
export class KeptCertificates<Certificates extends RotatingAuthority> {
  readonly #options: KeptCertificatesOptions<Certificates>;
  #current: Certificates;
  /** What follows from `current` was done; otherwise the next change or check tries again. */
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

  /** Resolves when what follows from the step is in use. @throws RotationError */
  rotate(step: RotationStep): Promise<void> {
    const { kind, directory, clock } = this.#options;
    return this.#change((current) => takeStep({ kind, directory, nowMs: clock.nowMs() }, current, step));
  }

  /**
   * Looks every hour whether a certificate is past two thirds of its life.
   * @param onChanged `current` is another one; connections made before keep theirs
   * @param onError a check that failed; the next one comes an hour later
   */
  keepFresh(onChanged: () => void | Promise<void>, onError: (error: unknown) => void): Disposable {
    this.#onChanged = onChanged;
    return this.#options.clock.every(renewalIntervalMs, () => {
      this.#change(async () => ({})).catch(onError);
    });
  }

  #change(change: (current: Certificates) => Promise<Partial<RotatingAuthority>>): Promise<void> {
    const changed = this.#changing.then(async () => {
      try {
        // From what is on disk: a step before this one may have failed in its middle.
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

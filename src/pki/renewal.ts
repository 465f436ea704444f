import type { Clock } from "../api/clock.ts";
import { type CertificateOptions, type Certificates, openCertificates } from "./certificates.ts";

/** Often enough for a certificate that lives for a year, and for a machine that slept. */
export const renewalIntervalMs = 3_600_000;

export interface RenewalOptions {
  readonly clock: Clock;
  readonly certificates: Omit<CertificateOptions, "nowMs">;
  /** What is in use now. */
  readonly current: Certificates;
  /** Gets the new set when any pair changed; connections made before keep theirs. */
  onRenewed(renewed: Certificates): void;
  /** A check that failed; the next one comes an hour later. */
  onError(error: unknown): void;
  /** How often to look, in milliseconds. */
  readonly intervalMs?: number;
}

/** Looks every hour whether a certificate is past two thirds of its life, and makes a new one then. */
export function renewCertificates(options: RenewalOptions): Disposable {
  let current = options.current;
  let checking = false;
  return options.clock.every(options.intervalMs ?? renewalIntervalMs, () => {
    if (checking) return;
    checking = true;
    void check().finally(() => {
      checking = false;
    });
  });

  async function check(): Promise<void> {
    try {
      const renewed = await renewedCertificates(options.certificates, current, options.clock.nowMs());
      if (renewed === undefined) return;
      current = renewed;
      options.onRenewed(renewed);
    } catch (error) {
      options.onError(error);
    }
  }
}

async function renewedCertificates(
  options: Omit<CertificateOptions, "nowMs">,
  current: Certificates,
  nowMs: number,
): Promise<Certificates | undefined> {
  const opened = await openCertificates({ ...options, nowMs, current });
  const changed = (["authority", "serving", "admin"] as const).some(
    (name) => opened[name].certificate !== current[name].certificate,
  );
  return changed ? opened : undefined;
}

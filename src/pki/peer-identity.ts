import type { Clock } from "../api/clock.ts";
import type { KeyPair } from "./authority.ts";
import { openPeerCertificates, type PeerCertificates } from "./peer-certificates.ts";
import { renewalIntervalMs } from "./renewal.ts";

/** PEM texts of one side of a connection between members. */
export interface PeerTls {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

export interface PeerIdentityOptions {
  /** Undefined: in memory. */
  readonly directory: string | undefined;
  readonly memberId: number;
  readonly clock: Clock;
}

/** How this member proves to the others that it is one, and what makes members of others. */
export class PeerIdentity {
  readonly #options: PeerIdentityOptions;
  #certificates: PeerCertificates;

  /** @throws StartupError when a key file can be read by others or does not parse */
  static async open(options: PeerIdentityOptions): Promise<PeerIdentity> {
    const { directory, memberId, clock } = options;
    return new PeerIdentity(options, await openPeerCertificates({ directory, memberId, nowMs: clock.nowMs() }));
  }

  private constructor(options: PeerIdentityOptions, certificates: PeerCertificates) {
    this.#options = options;
    this.#certificates = certificates;
  }

  get authority(): KeyPair {
    return this.#certificates.authority;
  }

  /** Asked anew for each connection. */
  tls(): PeerTls {
    const { authority, member } = this.#certificates;
    return { ca: authority.certificate, cert: member.certificate, key: member.key };
  }

  /**
   * Looks every hour whether a certificate is past two thirds of its life. New connections then use the new one; those that
   * are open go on.
   * @param reload tells what listens that `tls()` gives something new
   */
  keepFresh(reload: () => void, onError: (error: unknown) => void): Disposable {
    const { clock, directory, memberId } = this.#options;
    const renew = async () => {
      const current = this.#certificates;
      const opened = await openPeerCertificates({ directory, memberId, nowMs: clock.nowMs(), current });
      if (JSON.stringify(opened) === JSON.stringify(current)) return;
      this.#certificates = opened;
      reload();
    };
    let running = false;
    return clock.every(renewalIntervalMs, () => {
      if (running) return;
      running = true;
      void renew()
        .catch(onError)
        .finally(() => {
          running = false;
        });
    });
  }
}

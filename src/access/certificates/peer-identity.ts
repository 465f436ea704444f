import type { Clock } from "../../process/clock.ts";
import { KeptCertificates } from "./kept-certificates.ts";
import { openPeerCertificates, type PeerCertificates } from "./peer-certificates.ts";
import { peerAuthority, type RotatingAuthority, type RotationStep, trustedAuthorities } from "./rotating-authority.ts";

/** PEM texts for one side of a connection between members. */
export interface PeerTls {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

export interface PeerIdentityOptions {
  /** Directory; undefined for memory. */
  readonly directory: string | undefined;
  readonly memberId: number;
  readonly clock: Clock;
}

/** The credentials with which this member authenticates to the others. */
export class PeerIdentity {
  readonly #certificates: KeptCertificates<PeerCertificates>;

  /** Opens the identity. @throws StartupError when a key file can be read by others or does not parse */
  static async open({ directory, memberId, clock }: PeerIdentityOptions): Promise<PeerIdentity> {
    const open = (current?: PeerCertificates) =>
      openPeerCertificates({ directory, memberId, nowMs: clock.nowMs(), current });
    const current = await open();
    return new PeerIdentity(
      new KeptCertificates<PeerCertificates>({ clock, kind: peerAuthority, directory, current, open }),
    );
  }

  private constructor(certificates: KeptCertificates<PeerCertificates>) {
    this.#certificates = certificates;
  }

  get rotating(): RotatingAuthority {
    return this.#certificates.current;
  }

  /** Returns the TLS files. Called for each connection. */
  tls(): PeerTls {
    const { member, ...rotating } = this.#certificates.current;
    return { ca: trustedAuthorities(rotating).join(""), cert: member.certificate, key: member.key };
  }

  /** Takes a rotation step, after all members have taken the previous one. @throws RotationError */
  rotate(step: RotationStep): Promise<void> {
    return this.#certificates.rotate(step);
  }

  /**
   * Checks every hour whether a certificate is past two thirds of its life. New connections then use the new one; open
   * ones continue.
   * @param reload tells the listener that `tls()` has changed
   */
  keepFresh(reload: () => void, onError: (error: unknown) => void): Disposable {
    return this.#certificates.keepFresh(reload, onError);
  }
}

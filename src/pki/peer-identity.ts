import type { Clock } from "../api/clock.ts";
import type { KeyPair } from "./authority.ts";
import { openPeerCertificates, type PeerCertificates, rotation } from "./peer-certificates.ts";
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

/** How far this member is on the way from one authority of the members to another. */
export type RotationPhase = "none" | "trusting" | "using";

/** A step that does not follow from where the member is. */
export class RotationError extends Error {
  override readonly name = "RotationError";
}

/** How this member proves to the others that it is one. */
export class PeerIdentity {
  readonly #options: PeerIdentityOptions;
  #certificates: PeerCertificates;
  #reload: () => void = () => {};
  /** One change at a time: a step of a rotation, or a renewal. */
  #changing: Promise<unknown> = Promise.resolve();

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

  get phase(): RotationPhase {
    const { next, former } = this.#certificates;
    if (next !== undefined) return "trusting";
    return former === undefined ? "none" : "using";
  }

  /** Asked anew for each connection. */
  tls(): PeerTls {
    const { authority, next, former = "", member } = this.#certificates;
    const ca = authority.certificate + (next?.certificate ?? "") + former;
    return { ca, cert: member.certificate, key: member.key };
  }

  /** First step: members with certificates of `next` are trusted from now on, beside the others. @throws RotationError */
  trust(next: KeyPair): Promise<void> {
    return this.#step(async ({ former }) => {
      if (former !== undefined) throw new RotationError("this member is further on: it uses a new authority already");
      await this.#onDisk((directory) => rotation.trust(directory, next));
      return { next };
    });
  }

  /** Second step, when all members have done the first: its certificate is of the new authority. @throws RotationError */
  use(): Promise<void> {
    return this.#step(async ({ authority, next }) => {
      if (next === undefined) throw new RotationError("this member has been told of no new authority");
      await this.#onDisk((directory) => rotation.use(directory, { authority, next }));
      return { authority: next, next: undefined, former: authority.certificate };
    });
  }

  /** Last step, when all members have done the second: the former authority is trusted no more. @throws RotationError */
  drop(): Promise<void> {
    return this.#step(async ({ next }) => {
      if (next !== undefined) throw new RotationError("this member uses the former authority still");
      await this.#onDisk(rotation.drop);
      return { former: undefined };
    });
  }

  /**
   * Looks every hour whether a certificate is past two thirds of its life. New connections then use the new one; those that
   * are open go on.
   * @param reload tells what listens that `tls()` gives something new
   */
  keepFresh(reload: () => void, onError: (error: unknown) => void): Disposable {
    this.#reload = reload;
    return this.#options.clock.every(renewalIntervalMs, () => {
      this.#step(async () => ({})).catch(onError);
    });
  }

  /** Makes a change, and whatever certificate it asks for. */
  #step(change: (current: PeerCertificates) => Promise<Partial<PeerCertificates>>): Promise<void> {
    const step = this.#changing.then(async () => {
      const { clock, directory, memberId } = this.#options;
      const before = this.#certificates;
      const current = { ...before, ...(await change(before)) };
      const opened = await openPeerCertificates({ directory, memberId, nowMs: clock.nowMs(), current });
      if (JSON.stringify(opened) === JSON.stringify(before)) return;
      this.#certificates = opened;
      this.#reload();
    });
    this.#changing = step.catch(() => undefined);
    return step;
  }

  async #onDisk(write: (directory: string) => Promise<void>): Promise<void> {
    if (this.#options.directory !== undefined) await write(this.#options.directory);
  }
}

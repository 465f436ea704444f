import type { MemberId } from "../core/ids.ts";
import type { Hello, Incarnation } from "./handshake.ts";
import { KnownMembers } from "./known-members.ts";
import type { HandshakeRefusal } from "./transport.ts";

export interface Self {
  readonly clusterId: string;
  readonly memberId: MemberId;
  readonly incarnation: Incarnation;
}

interface Seen {
  incarnation: Incarnation;
  connections: number;
  heardAtMs: number;
}

/** Decides which peers may connect, and remembers which process speaks for each member. */
export class PeerRegistry {
  readonly #self: Self;
  readonly #silenceMs: number;
  readonly #nowMs: () => number;
  readonly #known: KnownMembers;
  readonly #seen = new Map<MemberId, Seen>();

  /** @param silenceMs time without input after which an open connection no longer speaks for its member */
  constructor(self: Self, silenceMs: number, nowMs: () => number, known: KnownMembers = new KnownMembers()) {
    this.#self = self;
    this.#known = known;
    this.#silenceMs = silenceMs;
    this.#nowMs = nowMs;
  }

  setMembers(members: readonly MemberId[]): void {
    for (const member of this.#known.set(members)) this.#seen.delete(member);
  }

  refusalOf(member: MemberId): HandshakeRefusal | undefined {
    return this.#known.refusalOf(member);
  }

  /** Returns the reason for a refusal, or undefined when the other side may stay. */
  judge(hello: Hello, certified: boolean): HandshakeRefusal | undefined {
    if (hello.clusterId !== this.#self.clusterId) return "wrongCluster";
    if (hello.to !== this.#self.memberId) return "wrongMember";
    if (hello.from === this.#self.memberId) return "twin";
    if (!certified) return "certificate";
    return this.refusalOf(hello.from) ?? (this.#isTwin(hello) ? "twin" : undefined);
  }

  /**
   * Reports whether another process speaks for the member. A restart has a higher count than earlier starts, and a
   * restarted process has left no live connection behind.
   */
  #isTwin({ from, incarnation }: Hello): boolean {
    const seen = this.#seen.get(from);
    if (seen === undefined || seen.incarnation.nonce === incarnation.nonce) return false;
    if (incarnation.starts <= seen.incarnation.starts) return true;
    return seen.connections > 0 && this.#nowMs() - seen.heardAtMs < this.#silenceMs;
  }

  /** Records an open connection with this process. `closed` must follow. */
  opened(member: MemberId, incarnation: Incarnation): void {
    const seen = this.#seen.get(member);
    if (seen !== undefined && seen.incarnation.nonce === incarnation.nonce) seen.connections++;
    else this.#seen.set(member, { incarnation, connections: 1, heardAtMs: this.#nowMs() });
    this.heard(member, incarnation);
  }

  heard(member: MemberId, incarnation: Incarnation): void {
    const seen = this.#seen.get(member);
    if (seen?.incarnation.nonce === incarnation.nonce) seen.heardAtMs = this.#nowMs();
  }

  /** Records a closed connection. @returns whether it was the last one with the process that speaks for the member */
  closed(member: MemberId, incarnation: Incarnation): boolean {
    const seen = this.#seen.get(member);
    if (seen?.incarnation.nonce !== incarnation.nonce) return false;
    seen.connections--;
    return seen.connections === 0;
  }
}

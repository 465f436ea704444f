import { type Membership, membersOf, noMember, type SoftState } from "../../../raft/index.ts";
import type { Clock } from "../../process/clock.ts";
import type { MemberNumber } from "../cluster.ts";

/** The leader as this replica knows it, and whether the cluster has other members. */
export class LeaderWatch {
  readonly #self: MemberNumber;
  readonly #clock: Clock;
  #soft: SoftState | undefined;
  #membership: Membership | undefined;
  readonly #onLeader: () => void;
  readonly #waiting = new Set<() => void>();

  /** Creates the watch. `onLeader` is called for each new leader. */
  constructor(self: MemberNumber, clock: Clock, onLeader: () => void) {
    this.#self = self;
    this.#clock = clock;
    this.#onLeader = onLeader;
  }

  get leader(): MemberNumber | undefined {
    const leader = this.#soft?.leader ?? noMember;
    return leader === noMember ? undefined : leader;
  }

  get isLeader(): boolean {
    return this.#soft?.role === "leader";
  }

  /** Whether this replica is the only member. Learners count as members. */
  get isAlone(): boolean {
    const members = this.#membership === undefined ? [] : membersOf(this.#membership);
    return members.length === 1 && members[0] === this.#self;
  }

  /** Resolves when another member leads, or after `timeoutMs`. */
  changed(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        timer[Symbol.dispose]();
        this.#waiting.delete(done);
        resolve();
      };
      const timer = this.#clock.after(timeoutMs, done);
      this.#waiting.add(done);
    });
  }

  softState(soft: SoftState): void {
    const before = this.leader;
    this.#soft = soft;
    if (this.leader === undefined || this.leader === before) return;
    this.#onLeader();
    for (const wake of this.#waiting) wake();
  }

  membership(membership: Membership): void {
    this.#membership = membership;
  }
}

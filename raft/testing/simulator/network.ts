import type { MemberId } from "../../core/ids.ts";
import type { Message } from "../../core/message.ts";
import type { Checkpoint } from "./disk-image.ts";
import type { Profile } from "./profile.ts";
import type { SeededRandom } from "./seeded-random.ts";

/** The fate of a message: the arrival times of its copies, in units from now. Empty if it is lost. */
export type Fate = readonly number[];

/** Factor by which a snapshot takes longer than other messages. */
const snapshotSlowness = 10;

/** Links that delay, lose, repeat and reorder messages, and that can be cut in one direction or both. */
export class Network {
  readonly #random: SeededRandom;
  readonly #profile: Profile;
  readonly #cuts = new Set<number>();
  readonly #lastArrival = new Map<number, number>();
  calm = false;

  constructor(random: SeededRandom, profile: Profile) {
    this.#random = random;
    this.#profile = profile;
  }

  isCut(from: MemberId, to: MemberId): boolean {
    return this.#cuts.has(link(from, to));
  }

  fateOf({ from, to }: Message, snapshot: Checkpoint | undefined, now: number): Fate {
    if (this.isCut(from, to)) return [];
    if (this.calm) return [this.#random.between(1, 10)];
    const { loss, duplication } = this.#profile;
    if (this.#random.chance(loss)) return [];
    const slowness = snapshot === undefined ? 1 : snapshotSlowness;
    const first = this.#delay(from, to, now, slowness);
    return this.#random.chance(duplication) ? [first, first + this.#delay(from, to, now, slowness)] : [first];
  }

  cut(from: MemberId, to: MemberId): void {
    this.#cuts.add(link(from, to));
  }

  heal(): void {
    this.#cuts.clear();
  }

  /**
   * Isolates one member (often the leader, which must not notice), splits the members in two, or cuts one link, one
   * direction of it, or everything that one member sends or receives.
   */
  partition(members: readonly MemberId[], leader: MemberId | undefined): void {
    const shuffled = this.#random.shuffled(members);
    const first = leader !== undefined && this.#random.chance(600) ? [leader] : [];
    const [one, two, ...rest] = [...new Set([...first, ...shuffled])];
    if (one === undefined || two === undefined) return;
    const kind = this.#random.below(6);
    if (kind === 0) this.#separate([one], [two, ...rest]);
    else if (kind === 1) this.#separate([one, ...rest.slice(1)], [two, ...rest.slice(0, 1)]);
    else if (kind === 2) this.#separate([one], [two]);
    else if (kind === 3) this.cut(one, two);
    else if (kind === 4) for (const other of [two, ...rest]) this.cut(one, other);
    else for (const other of [two, ...rest]) this.cut(other, one);
  }

  #separate(left: readonly MemberId[], right: readonly MemberId[]): void {
    for (const one of left) {
      for (const other of right) {
        this.cut(one, other);
        this.cut(other, one);
      }
    }
  }

  #delay(from: MemberId, to: MemberId, now: number, slowness: number): number {
    const units = this.#random.between(1, this.#profile.delayUnitsMax) * slowness;
    if (!this.#profile.keepsOrder || slowness > 1) return units;
    const key = link(from, to);
    const arrival = Math.max(now + units, this.#lastArrival.get(key) ?? 0);
    this.#lastArrival.set(key, arrival);
    return arrival - now;
  }
}

function link(from: MemberId, to: MemberId): number {
  return from * 1024 + to;
}

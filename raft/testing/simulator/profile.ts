import type { Limits } from "../../core/options.ts";
import type { SeededRandom } from "./seeded-random.ts";

/** Units of simulated time per tick of a member, before its clock's error. */
export const tickUnits = 100;
export const electionTicks = 10;
export const heartbeatTicks = 3;
export const electionUnits = tickUnits * electionTicks;

/** The severity of the faults of one seed. Probabilities are per 1000. */
export interface Profile {
  readonly voters: number;
  readonly learners: number;
  readonly clients: number;
  readonly loss: number;
  readonly duplication: number;
  readonly keepsOrder: boolean;
  readonly delayUnitsMax: number;
  readonly diskUnitsMax: number;
  /** Probability of a write that takes several election timeouts. */
  readonly diskHang: number;
  /** Probability that writes finish together and are acknowledged by the last one's mark. */
  readonly groupCommit: number;
  /** Probability that the work after an input is postponed until after the next input. */
  readonly lazyReady: number;
  readonly applyUnitsMax: number;
  /** Longest time between two actions of the adversary. */
  readonly actionUnitsMax: number;
  /** Largest clock error in per cent, fast or slow. */
  readonly clockErrorMax: number;
  /** Probability that a process stands still and later continues unaware of it. */
  readonly pause: number;
  readonly crash: number;
  /** Probability that the disk of a stopped member damages its data. */
  readonly damage: number;
  readonly partition: number;
  readonly healing: number;
  readonly membership: number;
  readonly transfer: number;
  readonly compaction: number;
  /** Whether members refuse messages of strangers, as the transports do. */
  readonly refusesStrangers: boolean;
  /** Entries kept before the checkpoint. */
  readonly logTail: number;
  readonly clientUnitsMax: number;
  readonly limits: Partial<Limits>;
}

/** Seeds with this remainder by 8 refuse strangers. The others keep the courses that they always had. */
const refusingRemainders: ReadonlySet<number> = new Set([4, 6]);

export function drawProfile(random: SeededRandom, seed: number): Profile {
  const voters = random.pick([1, 2, 3, 3, 3, 3, 4, 5, 5, 5, 6, 7]);
  return {
    voters,
    learners: random.pick([0, 0, 0, 1, 2].filter((learners) => voters + learners <= 7)),
    clients: random.pick([1, 2, 4, 8]),
    loss: random.pick([0, 0, 5, 30, 100, 250]),
    duplication: random.pick([0, 0, 20, 100]),
    keepsOrder: random.chance(400),
    delayUnitsMax: random.pick([5, 20, 60, 150, 500]),
    diskUnitsMax: random.pick([1, 10, 40, 150, 600]),
    diskHang: random.pick([0, 0, 0, 2]),
    groupCommit: random.pick([0, 300, 900]),
    lazyReady: random.pick([0, 0, 200, 600]),
    applyUnitsMax: random.pick([1, 10, 100, 400]),
    actionUnitsMax: random.pick([150, 400, 1000, 3000]),
    clockErrorMax: random.pick([5, 5, 20, 60]),
    pause: random.pick([0, 0, 50, 150]),
    crash: random.pick([0, 50, 150, 300]),
    damage: 0,
    refusesStrangers: refusingRemainders.has(seed % 8),
    partition: random.pick([0, 50, 150, 300]),
    healing: random.pick([50, 150, 400]),
    membership: random.pick([0, 0, 100, 300, 600]),
    transfer: random.pick([0, 20, 100]),
    compaction: random.pick([0, 200, 600]),
    logTail: random.pick([0, 0, 3, 20]),
    clientUnitsMax: random.pick([60, 200, 200, 800]),
    limits: random.pick<Partial<Limits>>([
      {},
      { appendBytesMax: 100, inflightMessagesMax: 2 },
      { appendBytesMax: 1, inflightMessagesMax: 4, committedBytesMax: 1 },
      { uncommittedBytesMax: 200, pendingReadsMax: 3, inflightBytesMax: 150 },
      { promotionLagMax: 0, committedBytesMax: 200 },
    ]),
  };
}

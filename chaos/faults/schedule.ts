import { SeededRandom } from "../../raft/testing/simulator/seeded-random.ts";
import { goTogether } from "./catalogue.ts";
import type { Fault } from "./fault.ts";

/** One fault, or two at the same time, with their duration. */
export interface PlannedFault {
  /** Quiet time before it. */
  readonly gapMs: number;
  readonly faults: readonly Fault[];
  readonly lengthMs: number;
  /** Seed of its choices. */
  readonly seed: number;
}

const gapMsMin = 400;
const gapMsMax = 2_000;
const lengthMsMin = 400;
const lengthMsMax = 5_000;
const pairPermille = 300;
/** Planned faults: more than a run has time for. */
const plannedMax = 1_000;

/** Plans the faults of a run in order, from its seed alone. A run executes those that it has time for. */
export function planFaults(seed: number, among: readonly Fault[]): PlannedFault[] {
  const random = new SeededRandom(seed);
  if (among.length === 0) return [];
  return Array.from({ length: plannedMax }, () => {
    const first = random.pick(among);
    const partners = among.filter((other) => goTogether(first, other));
    const second = random.chance(pairPermille) && partners.length > 0 ? [random.pick(partners)] : [];
    return {
      gapMs: random.between(gapMsMin, gapMsMax),
      faults: [first, ...second],
      lengthMs: random.between(lengthMsMin, lengthMsMax),
      seed: random.next(),
    };
  });
}

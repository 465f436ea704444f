import type { DemandSummary } from "./seat-demand.ts";

/** The configured share of a priority level. */
export interface Share {
  readonly exempt: boolean;
  readonly shares: number;
  readonly lendablePercent: number;
  /** Undefined for no limit. */
  readonly borrowingLimitPercent: number | undefined;
}

/** Bounds of the seats of one level. */
export interface SeatBounds {
  readonly exempt: boolean;
  readonly nominal: number;
  /** The nominal seats minus those that other levels may borrow. */
  readonly min: number;
  /** The nominal seats plus those that the level may borrow. */
  readonly max: number;
}

/** The demand of one level in the last period, and its smoothed value. */
export interface Demand extends DemandSummary {
  readonly smoothed: number;
}

/** The seats of a level for the next period, with the numbers behind them. */
export interface Allocation {
  readonly current: number;
  readonly lower: number;
  readonly target: number;
}

/** The seats of all levels for the next period. */
export interface SeatDivision {
  readonly allocations: readonly Allocation[];
  /** The fraction of its target that every level received; 0 if not even the lower bounds could be met. */
  readonly fairFraction: number;
}

/** The part of the former demand that remains in the smoothed value. */
const smoothing = 0.977;
/** Minimum target of a level, so that the common factor of all targets is finite. */
const targetMin = 0.001;
/** Number of bisection steps, after which the factor is more precise than a seat. */
const searchSteps = 100;

/** Returns the bounds of each level, if the server has `seats` seats altogether. */
export function seatBounds(shares: readonly Share[], seats: number): SeatBounds[] {
  const total = shares.reduce((sum, each) => sum + each.shares, 0);
  return shares.map(({ exempt, shares: own, lendablePercent, borrowingLimitPercent }) => {
    const nominal = total === 0 ? 0 : Math.ceil((seats * own) / total);
    const lendable = Math.round((nominal * lendablePercent) / 100);
    const borrowing = borrowingLimitPercent === undefined ? seats : Math.round((nominal * borrowingLimitPercent) / 100);
    return { exempt, nominal, min: nominal - lendable, max: exempt ? seats : nominal + borrowing };
  });
}

/** Returns the seats of a level before its demand is known. */
export function initialSeats({ nominal, min }: SeatBounds): number {
  return nominal - Math.floor((nominal - min) / 2);
}

/** Follows the demand upwards at once and downwards slowly, so that a level keeps its seats between two bursts. */
export function smoothedDemand(former: number, { average, deviation }: DemandSummary): number {
  const envelope = average + deviation;
  return Math.max(envelope, smoothing * former + (1 - smoothing) * envelope);
}

/**
 * Divides the seats for the next period. Each level gets at least the seats that it does not lend or has needed. The rest
 * follows the demand, within the bounds of each level.
 */
export function allocateSeats(levels: readonly (SeatBounds & { readonly demand: Demand })[]): SeatDivision {
  const plans = levels.map(({ exempt, nominal, min, max, demand }) => {
    const { highWatermark, smoothed } = demand;
    const lower = Math.max(min, exempt ? highWatermark : Math.min(nominal, highWatermark));
    return { exempt, min, lower, target: Math.max(lower, smoothed, targetMin), upper: Math.max(max, lower) };
  });
  const limited = plans.filter(({ exempt }) => !exempt);
  const exemptSeats = sum(plans.filter(({ exempt }) => exempt).map(({ lower }) => lower));
  const rest = sum(levels.map(({ nominal }) => nominal)) - exemptSeats;
  const { seatsOf, fairFraction } = divide(limited, rest);
  const allocations = plans.map((plan) => ({
    current: plan.exempt ? plan.lower : Math.round(seatsOf(plan)),
    lower: plan.lower,
    target: plan.target,
  }));
  return { allocations, fairFraction };
}

interface Plan {
  readonly min: number;
  readonly lower: number;
  readonly target: number;
  readonly upper: number;
}

interface Division {
  seatsOf(plan: Plan): number;
  readonly fairFraction: number;
}

/** Finds the rule that divides `rest` among the levels. */
function divide(plans: readonly Plan[], rest: number): Division {
  const mins = sum(plans.map(({ min }) => min));
  const lowers = sum(plans.map(({ lower }) => lower));
  if (rest <= mins) return { seatsOf: ({ min }) => min, fairFraction: 0 };
  if (rest <= lowers) {
    const part = (rest - mins) / (lowers - mins);
    return { seatsOf: ({ min, lower }) => min + (lower - min) * part, fairFraction: 0 };
  }
  const allotted = (factor: number) => (plan: Plan) => Math.min(plan.upper, Math.max(plan.lower, plan.target * factor));
  let low = 0;
  let high = Math.max(...plans.map(({ upper, target }) => upper / target));
  for (let step = 0; step < searchSteps; step++) {
    const middle = (low + high) / 2;
    if (sum(plans.map(allotted(middle))) < rest) low = middle;
    else high = middle;
  }
  return { seatsOf: allotted(high), fairFraction: high };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

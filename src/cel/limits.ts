/** The most that one evaluation may cost. */
export const costPerCallMax = 1_000_000;
/** The most that all rules may cost in one write of an object. */
export const objectCostMax = 10_000_000;
/** The most that one rule may be estimated to cost, times how often it may run. */
export const ruleCostMax = 10_000_000n;
/** The most that all rules of one version may be estimated to cost. */
export const totalRuleCostMax = 100_000_000n;
export const costLimitMessage = "operation cancelled: actual cost limit exceeded";

/**
 * Steps of work inside single functions that one evaluation may do. Costs are counted by outer sizes, so a comparison of nested
 * lists may be far more work than it costs; this ends it as if it had cost too much. No evaluation that costs less than its
 * limit on an object of a request comes near. A step takes some 20 ns.
 */
export const workStepsMax = 2_000_000;

/** Ends an evaluation that costs too much. Everything else that can go wrong is a value. */
export class CostLimitExceeded extends Error {
  constructor() {
    super(costLimitMessage);
    this.name = "CostLimitExceeded";
  }
}

let workLeft = workStepsMax;

/** Begins a new allowance of work; an evaluation that is started by another one shares its. */
export function resetWork(): void {
  workLeft = workStepsMax;
}

/** Returns the allowance that is left. */
export function workRemaining(): number {
  return workLeft;
}

/** Sets the allowance to what was left at another time of the same evaluation. */
export function restoreWork(steps: number): void {
  workLeft = steps;
}

/** @throws CostLimitExceeded */
export function spendWork(steps: number): void {
  workLeft -= steps;
  if (workLeft < 0) throw new CostLimitExceeded();
}

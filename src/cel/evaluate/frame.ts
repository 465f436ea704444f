import { CostLimitExceeded } from "../limits.ts";
import type { Result } from "../values/value.ts";
import { Progress } from "./loop.ts";

/** Gives the variables of an evaluation their values. */
export interface Activation {
  /** Returns the value of a variable, or undefined if it has none. */
  resolve(name: string): Result | undefined;
}

/** The state of one evaluation: variables, those of loops by number, and what it has cost. */
export class Frame {
  readonly activation: Activation;
  /** Variables of loops; an accumulator that has not been read has no value yet. */
  readonly slots: (Result | undefined)[];
  cost = 0;
  /** The innermost loop that is running, or the expression as a whole. */
  progress: Progress;
  readonly #whole = new Progress();
  readonly #limit: number;

  constructor(activation: Activation, slotCount: number, limit: number) {
    this.activation = activation;
    this.slots = slotCount === 0 ? [] : Array.from<Result | undefined>({ length: slotCount });
    this.#limit = limit;
    this.progress = this.#whole;
  }

  /** Prepares for the steps to run once more, after a pause. */
  repeat(): void {
    this.cost = 0;
    this.progress = this.#whole;
    this.#whole.repeatPart();
  }

  /** @throws CostLimitExceeded */
  charge(cost: number): void {
    this.cost += cost;
    if (this.cost > this.#limit) throw new CostLimitExceeded();
  }
}

/** A part of a program. */
export interface Step {
  /** The node that it evaluates. */
  readonly id: number;
  run(frame: Frame): Result;
}

import { restoreWork, workRemaining } from "../limits.ts";
import type { List, Result, Value } from "../values/value.ts";

/** The elements of a loop. */
export type Elements =
  | { readonly kind: "list"; readonly list: List; readonly size: number }
  | { readonly kind: "keys"; readonly keys: Iterator<Value> }
  | { readonly kind: "entries"; readonly entries: Iterator<readonly [Value, Result]> };

/** A loop that has ended. */
interface Ended {
  readonly node: object;
  readonly result: Result;
  readonly cost: number;
  readonly work: number;
}

/** The spending of an evaluation so far. */
interface Spending {
  cost: number;
}

/**
 * The progress of a loop, or of the whole expression.
 *
 * A paused evaluation continues by running its steps again from the start. Steps have no effects, so they reach the same
 * place: a loop that has ended returns its result again, and one that has begun continues at its element. A part is an
 * element of the loop, or its result; within one, each loop inside it runs at most once.
 */
export class Progress {
  /** The inner loop that has begun in this part, and has not ended. */
  #inner: Loop | undefined;
  #ended: Ended[] = [];
  /** The part is run once more. */
  #isRepeated = false;

  /** Begins a part. */
  beginPart(): void {
    this.#isRepeated = false;
    if (this.#ended.length > 0) this.#ended = [];
  }

  repeatPart(): void {
    this.#isRepeated = true;
  }

  /** Records that an inner loop has begun. */
  begin(loop: Loop): void {
    this.#inner = loop;
  }

  /** Records that the inner loop has ended. */
  end({ node, startCost, startWork }: Loop, result: Result, { cost }: Spending): void {
    this.#inner = undefined;
    this.#ended.push({ node, result, cost: cost - startCost, work: startWork - workRemaining() });
  }

  /** Returns the result of an inner loop that ended before the pause, and charges its cost again. */
  recall(node: object, spending: Spending): Result | undefined {
    if (!this.#isRepeated) return undefined;
    const ended = this.#ended.find((one) => one.node === node);
    if (ended === undefined) return undefined;
    spending.cost += ended.cost;
    restoreWork(workRemaining() - ended.work);
    return ended.result;
  }

  /** Returns the inner loop if it began before the pause. */
  resume(node: object): Loop | undefined {
    return this.#isRepeated && this.#inner?.node === node ? this.#inner : undefined;
  }
}

/** One run of a loop. */
export class Loop extends Progress {
  /** Identifies the loop among those of the expression. */
  readonly node: object;
  readonly elements: Elements;
  readonly startCost: number;
  readonly startWork: number;
  /** Number of elements that have begun. */
  begun = 0;
  /** Whether an element, or the result, has begun and not ended. */
  isInPart = false;
  /** Whether all elements have ended. */
  isOver = false;
  /** The spending of the evaluation when the part began. */
  #cost = 0;
  #work = 0;

  constructor(node: object, elements: Elements, startCost: number, startWork: number) {
    super();
    this.node = node;
    this.elements = elements;
    this.startCost = startCost;
    this.startWork = startWork;
  }

  override beginPart(): void {
    super.beginPart();
    this.isInPart = true;
  }

  note({ cost }: Spending): void {
    this.#cost = cost;
    this.#work = workRemaining();
  }

  /** Returns to the state at the beginning of the part. */
  restore(spending: Spending): void {
    spending.cost = this.#cost;
    restoreWork(this.#work);
    if (this.isInPart) this.repeatPart();
  }
}

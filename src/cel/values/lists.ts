import { spendWork } from "../limits.ts";
import { equalResults } from "./equality.ts";
import { List, type Result, type Value } from "./value.ts";

/** A list of computed values. */
export class ArrayList extends List {
  readonly #items: readonly Result[];

  constructor(items: readonly Result[]) {
    super();
    this.#items = items;
  }

  get size(): number {
    return this.#items.length;
  }

  at(index: number): Result {
    return this.#items[index] ?? null;
  }

  concat(other: List): List {
    return concatLists(this, other);
  }
}

export const emptyList = new ArrayList([]);

/** Deeper chains of concatenations are copied, so that reading an element takes few steps. */
const chainDepthMax = 64;

/** Two lists, one after the other, without a copy: repeated doubling must not fill the memory. */
class ChainedList extends List {
  readonly #first: List;
  readonly #second: List;
  readonly size: number;
  readonly depth: number;

  constructor(first: List, second: List, depth: number) {
    super();
    this.#first = first;
    this.#second = second;
    this.size = first.size + second.size;
    this.depth = depth;
  }

  at(index: number): Result {
    spendWork(1);
    const { size } = this.#first;
    return index < size ? this.#first.at(index) : this.#second.at(index - size);
  }

  concat(other: List): List {
    return concatLists(this, other);
  }
}

export function concatLists(first: List, second: List): List {
  if (first.size === 0) return second;
  if (second.size === 0) return first;
  const depth = 1 + Math.max(depthOf(first), depthOf(second));
  if (depth <= chainDepthMax) return new ChainedList(first, second, depth);
  spendWork(first.size + second.size);
  return new ArrayList([...itemsOf(first), ...itemsOf(second)]);
}

function depthOf(list: List): number {
  return list instanceof ChainedList ? list.depth : 0;
}

/** The list that a loop accumulates in. It grows in place, for nothing else sees it until the loop ends. */
export class GrowingList extends List {
  readonly #items: Result[] = [];

  get size(): number {
    return this.#items.length;
  }

  at(index: number): Result {
    return this.#items[index] ?? null;
  }

  concat(other: List): List {
    const { size } = other;
    spendWork(size);
    for (let at = 0; at < size; at++) this.#items.push(other.at(at));
    return this;
  }

  /** Returns what was gathered. */
  finish(): List {
    return new ArrayList(this.#items);
  }
}

/** Goes through a list; that is work, for a list may be far longer than what it was made of. */
export function* itemsOf(list: List): Generator<Result> {
  const { size } = list;
  for (let at = 0; at < size; at++) {
    spendWork(1);
    yield list.at(at);
  }
}

/** Lists that look for an element in a way of their own. */
export interface FindsItself {
  containsValue(element: Value): Result;
}

/** Reports whether a list has an element that equals the value. */
export function listContains(list: List, element: Value): Result {
  if (isFinder(list)) return list.containsValue(element);
  for (let at = 0; at < list.size; at++) {
    spendWork(1);
    if (equalResults(element, list.at(at)) === true) return true;
  }
  return false;
}

function isFinder(list: List): list is List & FindsItself {
  return "containsValue" in list;
}

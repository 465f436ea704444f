import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  roundUpToMilli,
} from "../../api/quantity.ts";
import type { ResourceList, ResourceRequirements, VolumeResourceRequirements } from "../../api/types/core-v1.ts";

/** Resource name → amount. */
export type Amounts = Map<string, Quantity>;

export function roundRequirements({ limits, requests }: ResourceRequirements | VolumeResourceRequirements): void {
  roundResourceList(limits);
  roundResourceList(requests);
}

/** Rounds amounts finer than a thousandth up, in place. */
export function roundResourceList(list: ResourceList = {}): void {
  for (const [name, text] of Object.entries(list)) {
    if (isFinerThanMilli(text)) list[name] = formatQuantity(roundUpToMilli(parseQuantity(text)));
  }
}

/** In canonical text only these have digits below a thousandth. */
function isFinerThanMilli(text: string): boolean {
  return text.endsWith("n") || text.endsWith("u") || text.includes("e-");
}

export function amountsOf(list: ResourceList = {}): Amounts {
  return new Map(Object.entries(list).map(([name, text]) => [name, parseQuantity(text)]));
}

/** Adds each amount to the same resource of `total`. */
export function addAmounts(total: Amounts, more: Amounts): void {
  for (const [name, amount] of more) {
    const before = total.get(name);
    total.set(name, before === undefined ? amount : addQuantities(before, amount));
  }
}

/** Raises each resource of `total` to at least the other amount. */
export function raiseAmounts(total: Amounts, least: Amounts): void {
  for (const [name, amount] of least) {
    const before = total.get(name);
    if (before === undefined || compareQuantities(before, amount) < 0) total.set(name, amount);
  }
}

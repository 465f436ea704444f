import { isJsonObject, type JsonObject, type JsonValue } from "../../../api/json.ts";
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  roundUpToMilli,
} from "../../../api/quantity.ts";

/** Resource name → amount. */
export type Amounts = Map<string, Quantity>;

export function roundRequirements(requirements: JsonObject): void {
  roundResourceList(requirements["limits"]);
  roundResourceList(requirements["requests"]);
}

/** Amounts of a quota: what it allows, and what is used of it. */
export function roundQuota(quota: JsonObject): void {
  roundResourceList(quota["hard"]);
  roundResourceList(quota["used"]);
}

/** Rounds the amounts that a sandbox takes for itself. */
export function roundOverhead(overhead: JsonObject): void {
  roundResourceList(overhead["podFixed"]);
}

/** Amounts finer than a thousandth are rounded up, in place. */
export function roundResourceList(list: JsonValue | undefined): void {
  if (!isJsonObject(list)) return;
  for (const [name, text] of Object.entries(list)) {
    if (typeof text === "string" && isFinerThanMilli(text)) {
      list[name] = formatQuantity(roundUpToMilli(parseQuantity(text)));
    }
  }
}

/** In canonical text only these have digits below a thousandth. */
function isFinerThanMilli(text: string): boolean {
  return text.endsWith("n") || text.endsWith("u") || text.includes("e-");
}

export function amountsOf(list: JsonValue | undefined): Amounts {
  const amounts: Amounts = new Map();
  if (!isJsonObject(list)) return amounts;
  for (const [name, text] of Object.entries(list)) amounts.set(name, parseQuantity(String(text)));
  return amounts;
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

import { parseQuantity, QuantityError } from "../../api/quantity.ts";
import type { EvictionSignal } from "./machine.ts";

/** The smallest supply that is still enough: an amount, or a fraction of the capacity. */
export type Threshold =
  | { readonly kind: "amount"; readonly amount: number }
  | { readonly kind: "fraction"; readonly fraction: number };

export type EvictionThresholds = ReadonlyMap<EvictionSignal, Threshold>;

/** The conditions of a node that low supplies cause. */
export const pressures = ["MemoryPressure", "DiskPressure", "PIDPressure"] as const;
export type Pressure = (typeof pressures)[number];

/** The condition that a low supply causes. */
export const pressureOf: Readonly<Record<EvictionSignal, Pressure>> = {
  "memory.available": "MemoryPressure",
  "nodefs.available": "DiskPressure",
  "nodefs.inodesFree": "DiskPressure",
  "imagefs.available": "DiskPressure",
  "imagefs.inodesFree": "DiskPressure",
  "pid.available": "PIDPressure",
};

/** Upstream's default hard limits. */
export const evictionHardDefault =
  "memory.available<100Mi,nodefs.available<10%,nodefs.inodesFree<5%,imagefs.available<15%,imagefs.inodesFree<5%";

/**
 * Parses limits such as `memory.available<100Mi,nodefs.available<10%`. An empty text has none, and neither 0 % nor 100 %
 * is one, as upstream has it.
 * @throws Error that states the problem, for use after the name of a flag
 */
export function parseEvictionThresholds(text: string): EvictionThresholds {
  const thresholds = parseSignals(text, "<", "quantity or percentage", parseThreshold);
  return new Map([...thresholds].filter(([, one]) => one.kind === "amount" || (one.fraction > 0 && one.fraction < 1)));
}

/** Parses amounts such as `nodefs.available=500Mi,imagefs.available=2%`. @throws Error as for thresholds */
export function parseEvictionAmounts(text: string): EvictionThresholds {
  return parseSignals(text, "=", "quantity or percentage", parseThreshold);
}

/** Parses a value for each of several signals. @throws Error as for thresholds */
export function parseSignals<T>(
  text: string,
  operator: "<" | "=",
  what: string,
  parse: (value: string) => T,
): ReadonlyMap<EvictionSignal, T> {
  const entries = text.split(",").map((entry) => entry.trim());
  return new Map(
    entries
      .filter((entry) => entry !== "")
      .map((entry) => {
        const [signal = "", value = "", ...rest] = entry.split(operator);
        if (!isSignal(signal) || value === "" || rest.length > 0) {
          throw new Error(`${JSON.stringify(entry)} is not <signal>${operator}<${what}>`);
        }
        return [signal, parse(value)] as const;
      }),
  );
}

function parseThreshold(value: string): Threshold {
  if (value.endsWith("%")) {
    const percent = /^\d{1,3}(\.\d+)?%$/.test(value) ? Number(value.slice(0, -1)) : Number.NaN;
    if (!(percent >= 0 && percent <= 100)) throw new Error(`${JSON.stringify(value)} is not a percentage`);
    return { kind: "fraction", fraction: percent / 100 };
  }
  try {
    const amount = Number(parseQuantity(value).nanos) / 1e9;
    if (amount > 0) return { kind: "amount", amount };
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error;
  }
  throw new Error(`${JSON.stringify(value)} is not a quantity above 0`);
}

function isSignal(text: string): text is EvictionSignal {
  return Object.hasOwn(pressureOf, text);
}

/** Returns the amount of a supply that a threshold keeps free. */
export function amountOf(threshold: Threshold, capacity: number): number {
  return threshold.kind === "amount" ? threshold.amount : threshold.fraction * capacity;
}

import { equalJson, type JsonValue } from "../../api/json.ts";
import { formatQuantity, type Quantity } from "../../api/quantity.ts";
import type { ResourceQuota } from "../../api/types/core-v1.ts";
import { type Amounts, amountsOf } from "../pod-resources.ts";

export const resourceQuotas = { group: "", resource: "resourcequotas" };

const parsedLimits = new WeakMap<ResourceQuota, Amounts>();

/**
 * Returns the limits of a quota, parsed once for each of its states, because every write in its namespace needs them.
 */
export function hardOf(quota: ResourceQuota): Amounts {
  let hard = parsedLimits.get(quota);
  if (hard === undefined) {
    hard = amountsOf(quota.spec?.hard);
    parsedLimits.set(quota, hard);
  }
  return hard;
}

export function usedOf({ status }: ResourceQuota): Amounts {
  return amountsOf(status?.used);
}

/** Reports whether the status has the current limits and a usage for each. */
export function isCounted({ spec, status }: ResourceQuota): boolean {
  const hard = spec?.hard ?? {};
  if (!equalJson(hard as JsonValue, (status?.hard ?? {}) as JsonValue)) return false;
  return Object.keys(hard).every((name) => status?.used?.[name] !== undefined);
}

/** Formats the amounts of these names in order: `cpu=1,pods=2`. */
export function amountsText(amounts: Amounts, names: readonly string[]): string {
  return [...names]
    .sort()
    .map((name) => `${name}=${formatQuantity(amounts.get(name) ?? noAmount)}`)
    .join(",");
}

export const noAmount: Quantity = { nanos: 0n, format: "decimalSI" };

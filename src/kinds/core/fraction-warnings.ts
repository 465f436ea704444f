import type { ResourceList } from "../../api/types/core-v1.ts";
import { isWholeInThousandths, parsedQuantity } from "../../api/validation/quantity.ts";

/** Warns about parts of a byte. @param names of resources that are counted in bytes */
export function fractionWarnings(
  amounts: ResourceList | undefined,
  field: string,
  names: readonly string[] = ["memory", "ephemeral-storage"],
): string[] {
  return names.flatMap((name) => {
    const amount = amounts?.[name];
    const quantity = amount === undefined ? undefined : parsedQuantity(amount);
    if (quantity === undefined || isWholeInThousandths(quantity)) return [];
    return [`${field}[${name}]: fractional byte value ${JSON.stringify(amount)} is invalid, must be an integer`];
  });
}

/** Returns the pairs as `a=1,b=2`, sorted, or `<none>`. */
export function pairsText(map: Readonly<Record<string, string>> = {}): string {
  const pairs = Object.keys(map)
    .sort()
    .map((key) => `${key}=${map[key]}`);
  return pairs.join(",") || "<none>";
}

/** Returns `True`, `False` or `<unset>`. */
export function flagText(value: boolean | undefined): string {
  if (value === undefined) return "<unset>";
  return value ? "True" : "False";
}

/** Returns the first few texts and how many of `count` are left out: `a,b,c + 4 more...`. */
export function firstFew(
  texts: readonly string[],
  shownMax: number,
  separator = ",",
  count: number = texts.length,
): string {
  const shown = texts.slice(0, shownMax).join(separator);
  return count > shownMax ? `${shown} + ${count - shownMax} more...` : shown;
}

interface Conditioned {
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

/** Reports whether a status has a condition of this type that is True. */
export function hasCondition({ conditions = [] }: Conditioned, type: string): boolean {
  return conditions.some((condition) => condition.type === type && condition.status === "True");
}

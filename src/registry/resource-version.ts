const uint64Limit = 2 ** 64;

/**
 * Parses a resourceVersion to its revision; undefined if it is not a uint64 in decimal. Revisions that are too large to
 * be written become the largest one that fits: both lie in the future.
 */
export function parseResourceVersion(text: string): number | undefined {
  if (!/^[0-9]+$/.test(text)) return undefined;
  const value = Number(text);
  return value < uint64Limit ? Math.min(value, Number.MAX_SAFE_INTEGER) : undefined;
}

/** Returns the refusal of a text that cannot be a resourceVersion, in Go's words. */
export function resourceVersionProblem(text: string): string {
  const shown = JSON.stringify(text);
  // Go reads from the left, and stops where the number gets too large.
  const [digits = ""] = /^[0-9]*/.exec(text) ?? [];
  const why = Number(digits) >= uint64Limit ? "value out of range" : "invalid syntax";
  return `resourceVersion: Invalid value: ${shown}: strconv.ParseUint: parsing ${shown}: ${why}`;
}

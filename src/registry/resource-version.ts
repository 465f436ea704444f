/** Parses a resourceVersion to its revision; undefined if it is not a possible revision in decimal. */
export function parseResourceVersion(text: string): number | undefined {
  if (!/^[0-9]{1,16}$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : undefined;
}

/** Returns the refusal of a text that cannot be a resourceVersion, in Go's words. */
export function resourceVersionProblem(text: string): string {
  const shown = JSON.stringify(text);
  const why = /^[0-9]+$/.test(text) ? "value out of range" : "invalid syntax";
  return `resourceVersion: Invalid value: ${shown}: strconv.ParseUint: parsing ${shown}: ${why}`;
}

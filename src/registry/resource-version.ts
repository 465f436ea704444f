/** Parses a resourceVersion to its revision; undefined if it is not a possible revision in decimal. */
export function parseResourceVersion(text: string): number | undefined {
  if (!/^[0-9]{1,16}$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : undefined;
}

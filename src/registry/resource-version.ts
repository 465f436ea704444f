import { status } from "../api/status.ts";

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
  return `resourceVersion: Invalid value: ${JSON.stringify(text)}: ${parseProblem(text)}`;
}

/**
 * Returns the revision that an object names, 0 if none.
 * @throws StatusError 500 without a reason for a text that cannot be a resourceVersion
 */
export function namedRevision(text: string): number {
  const revision = text === "" ? 0 : parseResourceVersion(text);
  if (revision === undefined) throw status.unconverted(parseProblem(text));
  return revision;
}

function parseProblem(text: string): string {
  // Go reads from the left, and stops where the number gets too large.
  const [digits = ""] = /^[0-9]*/.exec(text) ?? [];
  const why = Number(digits) >= uint64Limit ? "value out of range" : "invalid syntax";
  return `strconv.ParseUint: parsing ${JSON.stringify(text)}: ${why}`;
}

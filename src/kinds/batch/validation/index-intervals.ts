/** Indexes from `first` to `last`. */
interface Interval {
  readonly first: number;
  readonly last: number;
}

/** Texts are upstream's: they reach clients inside validation errors. */
class IndexIntervalError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "IndexIntervalError";
  }
}

export type CheckedIndexes =
  | { readonly kind: "valid"; readonly count: number }
  | { readonly kind: "invalid"; readonly problem: string };

/** Checks `1,3-5,7`: rising indexes below the number of completions. */
export function checkIndexes(text: string, completions: number): CheckedIndexes {
  let count = 0;
  let before = -1;
  try {
    for (const part of text === "" ? [] : text.split(",")) {
      const { first, last } = parseInterval(part, completions);
      if (before >= first) throw notRising(before, first);
      count += last - first + 1;
      before = last;
    }
  } catch (error) {
    if (!(error instanceof IndexIntervalError)) throw error;
    return { kind: "invalid", problem: error.message };
  }
  return { kind: "valid", count };
}

/** Returns the first index in both texts. Parts that are not intervals are ignored. */
export function commonIndex(a: string, b: string, completions: number): number | undefined {
  const [left, right] = [intervalsOf(a, completions), intervalsOf(b, completions)];
  let [at, other] = [0, 0];
  while (at < left.length && other < right.length) {
    const [x, y] = [left[at] as Interval, right[other] as Interval];
    if (x.first <= y.last && y.first <= x.last) return Math.max(x.first, y.first);
    if (x.first <= y.first) at++;
    else other++;
  }
  return undefined;
}

function intervalsOf(text: string, completions: number): Interval[] {
  const intervals: Interval[] = [];
  for (const part of text === "" ? [] : text.split(",")) {
    try {
      intervals.push(parseInterval(part, completions));
    } catch (error) {
      if (!(error instanceof IndexIntervalError)) throw error;
    }
  }
  return intervals;
}

function parseInterval(text: string, completions: number): Interval {
  const parts = text.split("-");
  if (parts.length > 2) {
    throw new IndexIntervalError(
      `the fragment ${JSON.stringify(text)} violates the requirement that an index interval can have at most two parts separated by '-'`,
    );
  }
  const first = parseIndex(parts[0] ?? "", completions);
  if (parts[1] === undefined) return { first, last: first };
  const last = parseIndex(parts[1], completions);
  if (first >= last) throw notRising(first, last);
  return { first, last };
}

function parseIndex(text: string, completions: number): number {
  if (!/^\+?[0-9]{1,18}$/.test(text)) {
    throw new IndexIntervalError(`cannot convert string to integer for index: ${JSON.stringify(text)}`);
  }
  const index = Number(text);
  if (index >= completions) throw new IndexIntervalError(`too large index: ${JSON.stringify(text)}`);
  return index;
}

function notRising(previous: number, current: number): IndexIntervalError {
  return new IndexIntervalError(`non-increasing order, previous: ${previous}, current: ${current}`);
}

/** Items that are sorted or merged without a pause. */
const stepItems = 1_000;

/** Returns the items in order, as `toSorted` does, and yields now and then. */
export function* sortedInSteps<T>(items: readonly T[], compare: (a: T, b: T) => number): Generator<void, T[]> {
  let runs: T[][] = [];
  for (let at = 0; at < items.length; at += stepItems) {
    runs.push(items.slice(at, at + stepItems).sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let at = 0; at < runs.length; at += 2) {
      const [left, right] = [runs[at] as T[], runs[at + 1]];
      merged.push(right === undefined ? left : yield* mergedInSteps(left, right, compare));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

function* mergedInSteps<T>(
  left: readonly T[],
  right: readonly T[],
  compare: (a: T, b: T) => number,
): Generator<void, T[]> {
  const merged: T[] = [];
  let next = 0;
  for (const item of left) {
    while (next < right.length && compare(right[next] as T, item) < 0) {
      merged.push(right[next++] as T);
      if (merged.length % stepItems === 0) yield;
    }
    merged.push(item);
    if (merged.length % stepItems === 0) yield;
  }
  while (next < right.length) merged.push(right[next++] as T);
  return merged;
}

/**
 * Works on every item, on at most `count` of them at a time.
 * @throws the first failure; no more items are begun then
 */
export async function eachAtATime<T>(
  items: Iterable<T> | AsyncIterable<T>,
  count: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const remaining = allOf(items);
  const lane = async () => {
    for await (const item of remaining) await work(item);
  };
  await Promise.all(Array.from({ length: count }, lane));
}

/** Returns an iterator that several loops can share. A loop that fails ends it for the others. */
async function* allOf<T>(items: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T, void> {
  yield* items;
}

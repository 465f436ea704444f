const waitMsMax = 20_000;
const pollMs = 10;

/**
 * Reads a value until it is as expected, and returns it. Waits for `true` by default.
 * @throws Error with the last value if it takes too long
 */
export async function until<T>(read: () => T | Promise<T>, isExpected: (value: T) => boolean = isTrue): Promise<T> {
  for (const endMs = performance.now() + waitMsMax; ; await Bun.sleep(pollMs)) {
    const value = await read();
    if (isExpected(value)) return value;
    if (performance.now() > endMs) throw new Error(`still ${JSON.stringify(value)} after ${waitMsMax} ms: ${read}`);
  }
}

function isTrue(value: unknown): boolean {
  return value === true;
}

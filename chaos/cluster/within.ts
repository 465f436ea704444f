const pauseMs = 50;

/** Repeats an attempt until it returns true. Returns false after the timeout. */
export async function within(timeoutMs: number, attempt: () => Promise<boolean>): Promise<boolean> {
  const deadlineMs = performance.now() + timeoutMs;
  do {
    if (await attempt()) return true;
    await Bun.sleep(pauseMs);
  } while (performance.now() < deadlineMs);
  return false;
}

/**
 * Returns the CPU milliseconds that the longest turn of the event loop took during an action. Those of other threads,
 * such as the garbage collector's, hold up nobody.
 */
export async function longestTurnMs(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let before = threadCpuMs();
  let measuring = true;
  const measure = (): void => {
    const now = threadCpuMs();
    longest = Math.max(longest, now - before);
    before = now;
    if (measuring) setImmediate(measure);
  };
  setImmediate(measure);
  await work();
  measuring = false;
  return longest;
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

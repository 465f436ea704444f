import { cpuMs } from "./cpu-time.ts";

/** Returns the CPU milliseconds of the longest turn of the event loop during an action. */
export async function longestTurnMs(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let before = cpuMs();
  let measuring = true;
  const measure = (): void => {
    const now = cpuMs();
    longest = Math.max(longest, now - before);
    before = now;
    if (measuring) setImmediate(measure);
  };
  setImmediate(measure);
  await work();
  measuring = false;
  return longest;
}

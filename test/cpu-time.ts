/**
 * Returns the CPU milliseconds of this process. Tests of hostile input assert these, because, unlike elapsed time, they
 * are the same on a busy machine.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

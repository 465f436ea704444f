/**
 * CPU milliseconds that this process has used. What hostile input may cost is asserted in these: unlike the time that
 * passes, they are the same on a machine that has other work to do.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

import type { Clock } from "../process/clock.ts";

/** The process whose memory is released. Tests pass their own. */
export interface StartedProcess {
  /** CPU time used so far. */
  cpuMs(): number;
  heapBytes(): number;
  /** Drops compiled code and unused memory in the next turn without work. Code that runs again is compiled again. */
  shrink(): void;
}

const intervalMs = 2_000;
/** A process is idle if it uses no more CPU time than this in an interval: a twentieth of a core. */
const idleMs = intervalMs / 20;
/**
 * Releasing the memory of a larger heap stops the process for too long, and gains little in comparison. With 100,000
 * objects of 2 KiB, which come close to this limit, it takes 30 ms.
 */
const heapBytesMax = 256 * 1024 * 1024;

const thisProcess: StartedProcess = {
  cpuMs() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  },
  heapBytes: () => process.memoryUsage().heapUsed,
  shrink: () => Bun.shrink(),
};

/**
 * Releases the memory that only the start needed, once the process is idle: 13 MB of 110. The first requests after that
 * take as long as before. Does nothing in a server that is busy until its heap is large.
 */
export function releaseStartMemory(clock: Clock, started: StartedProcess = thisProcess): Disposable {
  let usedMs = started.cpuMs();
  const timer = clock.every(intervalMs, () => {
    const beforeMs = usedMs;
    usedMs = started.cpuMs();
    const isLarge = started.heapBytes() > heapBytesMax;
    if (!isLarge && usedMs - beforeMs > idleMs) return;
    timer[Symbol.dispose]();
    if (!isLarge) started.shrink();
  });
  return timer;
}

import { readdirSync, readFileSync } from "node:fs";

/** A process that is recognised also after its pid has been given to another one. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Time of its start in clock ticks after the machine's. */
  readonly startTicks: number;
}

export interface ProcessFacts extends ProcessIdentity {
  readonly parentPid: number;
  readonly sessionId: number;
  /** Reports whether it has exited and only waits for its parent. */
  readonly isDefunct: boolean;
  /** User and system time. */
  readonly cpuTicks: number;
  readonly residentPages: number;
}

/** Number of the first field after the name of the command in /proc/<pid>/stat. */
const firstField = 3;

/** Returns the facts of a process; undefined if there is none with this pid. */
export function readProcess(pid: number): ProcessFacts | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return undefined;
  }
  return parseStat(text);
}

/** Parses a line of /proc/<pid>/stat. The name of the command may contain blanks and parentheses. */
export function parseStat(text: string): ProcessFacts {
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const field = (number: number) => Number(fields[number - firstField]);
  return {
    pid: Number.parseInt(text, 10),
    isDefunct: fields[0] === "Z" || fields[0] === "X",
    parentPid: field(4),
    sessionId: field(6),
    cpuTicks: field(14) + field(15),
    startTicks: field(22),
    residentPages: field(24),
  };
}

export function allProcesses(): ProcessFacts[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => readProcess(Number(pid)) ?? []);
}

/** Reports whether the process still runs, and has not been replaced by another with its pid. */
export function isRunning({ pid, startTicks }: ProcessIdentity): boolean {
  const facts = readProcess(pid);
  return facts !== undefined && facts.startTicks === startTicks && !facts.isDefunct;
}

/** Sends a signal to a process unless it has ended. Reports whether it has been sent. */
export function signalProcess(identity: ProcessIdentity, signal: number | NodeJS.Signals): boolean {
  if (!isRunning(identity)) return false;
  try {
    process.kill(identity.pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** Returns the processes of a session, with all descendants of its leader, which may have left the session. */
export function processFamily(table: readonly ProcessFacts[], leaderPid: number): ProcessFacts[] {
  const alive = table.filter(({ isDefunct }) => !isDefunct);
  const children = Map.groupBy(alive, ({ parentPid }) => parentPid);
  const family = new Set(alive.filter(({ pid, sessionId }) => sessionId === leaderPid || pid === leaderPid));
  // A set yields what is added during the walk, and each process once.
  for (const { pid } of family) for (const child of children.get(pid) ?? []) family.add(child);
  return [...family];
}

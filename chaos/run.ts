import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { SeededRandom } from "../raft/testing/simulator/seeded-random.ts";
import { check } from "./checkers/check.ts";
import { stateLaw } from "./checkers/state-law.ts";
import type { Violation } from "./checkers/violation.ts";
import { Cluster } from "./cluster/cluster.ts";
import type { ClusterSize } from "./cluster/cluster-size.ts";
import type { Launch } from "./cluster/launch.ts";
import type { Fault, Scene, Undo } from "./faults/fault.ts";
import { type PlannedFault, planFaults } from "./faults/schedule.ts";
import { emptyHistory, type History } from "./history/history.ts";
import { Network } from "./network/network.ts";
import { Traffic } from "./traffic/traffic.ts";

export interface RunOptions extends ClusterSize {
  readonly seed: number;
  /** Duration of the faults. */
  readonly seconds: number;
  readonly faults: readonly Fault[];
  readonly launch: Launch;
  /** The name of the server's deliberate error, if any. */
  readonly control: string | undefined;
  /** Directory for disks and logs. This creates it; the caller removes it. */
  readonly directory: string;
}

/** A fault, as injected. */
export interface InjectedFault {
  readonly name: string;
  readonly notes: readonly string[];
  /** Time since the beginning of the traffic. */
  readonly startMs: number;
  readonly endMs: number;
  /** Time from its end until all members were ready. */
  readonly healMs: number;
}

export interface RunResult {
  readonly options: RunOptions;
  readonly history: History;
  readonly injected: readonly InjectedFault[];
  readonly violations: readonly Violation[];
  readonly frames: { readonly passed: number; readonly lost: number };
  /** Number of processes that ended by themselves. */
  readonly deaths: number;
  readonly startedMs: number;
  readonly trafficMs: number;
}

/** Acknowledged writes per second below which a run is inconclusive. */
const acknowledgedPerSecondMin = 1;

/** Runs one cluster with its traffic and faults, and checks every law. */
export async function run(options: RunOptions): Promise<RunResult> {
  const { seed, members, etcdMembers, seconds, faults, directory } = options;
  const random = new SeededRandom(seed);
  const history = emptyHistory();
  mkdirSync(directory);
  await using network = await Network.open(members + etcdMembers, random.next());
  const movesClocks = faults.some(({ needs }) => needs === "faketime");
  await using cluster = await Cluster.start({ ...options, network, movesClocks });
  const traffic = new Traffic(cluster, history, random.next());
  const startedMs = performance.now();
  const violations: Violation[] = [];
  const injected: InjectedFault[] = [];
  try {
    await traffic.start();
    const deadlineMs = startedMs + seconds * 1000;
    for (const planned of planFaults(random.next(), faults)) {
      await sleepUntil(Math.min(deadlineMs, performance.now() + planned.gapMs));
      if (performance.now() >= deadlineMs) break;
      const { fault, late } = await inject(
        planned,
        { cluster, recordHistory: (silent) => traffic.recordHistory(silent) },
        startedMs,
      );
      injected.push(fault);
      for (const name of late) violations.push({ law: "recovery", detail: `${name} is not ready after ${fault.name}` });
      if (late.length > 0) break;
    }
    await sleepUntil(deadlineMs);
    const trafficMs = performance.now() - startedMs;
    for (const detail of await traffic.finish()) violations.push({ law: "convergence", detail });
    violations.push(...(await stateLaw(cluster)), ...check(history, traffic.span), ...idleness(history, trafficMs));
    const deaths = cluster.processes.reduce((sum, member) => sum + member.deaths, 0);
    return { options, history, injected, violations, frames: network.frames, deaths, startedMs, trafficMs };
  } finally {
    await traffic.stop();
  }
}

/** Removes the disks of a finished run. Its logs stay. */
export function removeDisks({ directory, members, etcdMembers }: RunOptions): void {
  for (let number = 1; number <= members + etcdMembers; number++) {
    rmSync(join(directory, `disk-${number}`), { recursive: true, force: true });
  }
}

async function inject(
  { faults, lengthMs, seed }: PlannedFault,
  world: Pick<Scene, "cluster" | "recordHistory">,
  startedMs: number,
): Promise<{ fault: InjectedFault; late: string[] }> {
  const random = new SeededRandom(seed);
  const notes: string[] = [];
  const undoing: Undo[] = [];
  // Repairs of the membership need the leader, so other faults end first.
  const inOrder = faults.toSorted((left, right) => Number(changesMembers(right)) - Number(changesMembers(left)));
  const startMs = performance.now();
  try {
    for (const fault of inOrder) {
      const scene = { ...world, random, note: (text: string) => notes.push(text) };
      undoing.unshift(await fault.inject(scene));
    }
    await Bun.sleep(lengthMs);
  } finally {
    for (const undo of undoing) await undo();
  }
  const endMs = performance.now();
  const late = await world.cluster.heal();
  const fault: InjectedFault = {
    name: faults.map(({ name }) => name).join(" + "),
    notes,
    startMs: startMs - startedMs,
    endMs: endMs - startedMs,
    healMs: performance.now() - endMs,
  };
  return { fault, late };
}

function changesMembers({ parts }: Fault): boolean {
  return parts.includes("membership");
}

function idleness({ operations }: History, trafficMs: number): Violation[] {
  const done = operations.filter(({ outcome }) => outcome.kind === "ok").length;
  const perSecond = (done / trafficMs) * 1000;
  if (perSecond >= acknowledgedPerSecondMin) return [];
  return [{ law: "traffic", detail: `only ${perSecond.toFixed(1)} operations in a second were acknowledged` }];
}

function sleepUntil(timeMs: number): Promise<void> {
  return Bun.sleep(Math.max(0, timeMs - performance.now()));
}

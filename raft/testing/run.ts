import { parseArgs } from "node:util";
import type { SeedReport } from "./simulator/simulation.ts";
import { Simulation } from "./simulator/simulation.ts";

/**
 * Runs seeds, shows progress, and exits with 1 when one fails: `bun raft/testing/run.ts --seeds N --from S --steps M`.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "500" },
    from: { type: "string", default: "1" },
    steps: { type: "string", default: "20000" },
    /** Number of failures after which it stops. */
    failures: { type: "string", default: "5" },
  },
});
const [seeds, from, steps, failuresMax] = [values.seeds, values.from, values.steps, values.failures].map(Number) as [
  number,
  number,
  number,
  number,
];
const progressIntervalMs = 10_000;
const out = Bun.stdout.writer();

const total = { events: 0, decided: 0, termsLed: 0, reads: 0, crashes: 0, snapshots: 0, membershipChanges: 0 };
let reportedAt = performance.now();
let done = 0;
let failures = 0;
for (let seed = from; seed < from + seeds && failures < failuresMax; seed++) {
  const simulation = new Simulation(seed);
  try {
    add(simulation.run(steps));
  } catch (error) {
    failures++;
    const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const replay = `replay: bun raft/testing/run.ts --seeds 1 --from ${seed} --steps ${steps}`;
    say([...simulation.lastEvents(), `seed ${seed} fails: ${detail}`, `  ${replay}`].join("\n"));
  }
  done++;
  if (performance.now() - reportedAt > progressIntervalMs) progress();
}
progress();
process.exit(failures === 0 ? 0 : 1);

function add(report: SeedReport): void {
  total.events += report.events;
  total.decided += report.decided;
  total.termsLed += report.termsLed;
  total.reads += report.reads;
  total.crashes += report.crashes;
  total.snapshots += report.snapshots;
  total.membershipChanges += report.membershipChanges;
  if (seeds === 1) say(JSON.stringify(report));
}

function progress(): void {
  reportedAt = performance.now();
  const { user, system } = process.cpuUsage();
  const perCpuSecond = Math.round((total.events / (user + system)) * 1_000_000);
  const { decided, termsLed, reads, crashes, snapshots, membershipChanges } = total;
  const sums = `${decided} entries, ${termsLed} terms, ${reads} reads, ${crashes} crashes, ${snapshots} snapshots, ${membershipChanges} membership changes`;
  say(`${done} seeds, ${total.events} events (${perCpuSecond} a second of CPU), ${sums}, ${failures} failures`);
}

function say(line: string): void {
  out.write(`${line}\n`);
  out.flush();
}

import { parseArgs } from "node:util";
import { type ClusterReport, ClusterSimulation } from "./cluster-simulation.ts";
import { type ControllerReport, ControllerSimulation } from "./controllers/controller-simulation.ts";
import { type Mutation, mutations } from "./mutation.ts";

/** `bun test/simulation/run.ts --from S --seeds N`: runs seeds, shows progress, exits 1 when one fails. */
const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "500" },
    from: { type: "string", default: "1" },
    steps: { type: "string", default: "12000" },
    /** Number of failures after which it stops. */
    failures: { type: "string", default: "5" },
    /** A mutation of `mutation.ts`, which must be noticed. */
    mutation: { type: "string" },
    /** Runs the controllers with users and nodes, in place of clients that check the store. */
    controllers: { type: "boolean", default: false },
  },
});
const [seeds, from, steps, failuresMax] = [values.seeds, values.from, values.steps, values.failures].map(Number) as [
  number,
  number,
  number,
  number,
];
const mutation = mutations.find((name) => name === values.mutation) satisfies Mutation | undefined;
if (values.mutation !== undefined && mutation === undefined) throw new Error(`one of ${mutations.join(", ")}`);
const progressIntervalMs = 10_000;
const lineCharsMax = 240;

const sums = new Map<string, number>();
let reportedAt = performance.now();
let done = 0;
let failures = 0;
for (let seed = from; seed < from + seeds && failures < failuresMax; seed++) {
  const simulation = values.controllers ? new ControllerSimulation(seed) : new ClusterSimulation(seed, mutation);
  try {
    add(simulation.run(steps));
  } catch (error) {
    failures++;
    const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const which = values.controllers ? " --controllers" : "";
    const replay = `replay: bun test/simulation/run.ts${which} --from ${seed} --seeds 1 --steps ${steps}`;
    console.log([...simulation.lastEvents().map(readable), `seed ${seed} fails: ${detail}`, `  ${replay}`].join("\n"));
  }
  done++;
  if (performance.now() - reportedAt > progressIntervalMs) progress();
}
progress();
process.exit(failures === 0 ? 0 : 1);

/** Entries are bytes. */
function readable(line: string): string {
  return line.replaceAll(/[^ -~→]+/g, " ").slice(0, lineCharsMax);
}

function add(report: ClusterReport | ControllerReport): void {
  for (const [name, value] of Object.entries(report)) sums.set(name, (sums.get(name) ?? 0) + (value as number));
  if (seeds === 1) console.log(JSON.stringify(report));
}

function progress(): void {
  reportedAt = performance.now();
  const { user, system } = process.cpuUsage();
  const perCpuSecond = Math.round(((sums.get("events") ?? 0) / (user + system)) * 1_000_000);
  const parts = [...sums]
    .filter(([name]) => name !== "seed" && name !== "trace")
    .map(([name, sum]) => `${name} ${sum}`);
  console.log(`${done} seeds, ${failures} failures, ${perCpuSecond} events a second of CPU: ${parts.join(", ")}`);
}

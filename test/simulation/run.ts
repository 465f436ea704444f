import { parseArgs } from "node:util";
import { type ClusterReport, ClusterSimulation } from "./cluster-simulation.ts";
import { type ControllerReport, ControllerSimulation } from "./controllers/controller-simulation.ts";
import { type DatabaseReport, DatabaseSimulation } from "./database/database-simulation.ts";
import { databaseMutations } from "./database/simulated-database.ts";
import { mutations } from "./mutation.ts";

/** `bun test/simulation/run.ts --from S --seeds N`: runs seeds, shows progress, exits 1 when one fails. */
const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "500" },
    from: { type: "string", default: "1" },
    /** 12,000, or 80 with --database. */
    steps: { type: "string" },
    /** Number of failures after which it stops. */
    failures: { type: "string", default: "5" },
    /** A mutation of `mutation.ts` or `database/simulated-database.ts`, which must be noticed. */
    mutation: { type: "string" },
    /** Runs the controllers with users and nodes, in place of clients that check the store. */
    controllers: { type: "boolean", default: false },
    /** Runs one replica's state on a database that fails, in place of a cluster. */
    database: { type: "boolean", default: false },
  },
});
const [seeds, from, failuresMax] = [values.seeds, values.from, values.failures].map(Number) as [number, number, number];
const steps = Number(values.steps ?? (values.database ? 80 : 12_000));
const mutation = mutations.find((name) => name === values.mutation);
const databaseMutation = databaseMutations.find((name) => name === values.mutation);
if (values.mutation !== undefined && mutation === undefined && databaseMutation === undefined) {
  throw new Error(`one of ${[...mutations, ...databaseMutations].join(", ")}`);
}
const progressIntervalMs = 10_000;
const lineCharsMax = 240;

const sums = new Map<string, number>();
let reportedAt = performance.now();
let done = 0;
let failures = 0;
for (let seed = from; seed < from + seeds && failures < failuresMax; seed++) {
  const simulation = simulationOf(seed);
  try {
    add(await simulation.run(steps));
  } catch (error) {
    failures++;
    const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const which = values.controllers ? " --controllers" : values.database ? " --database" : "";
    const replay = `replay: bun test/simulation/run.ts${which} --from ${seed} --seeds 1 --steps ${steps}`;
    console.log([...simulation.lastEvents().map(readable), `seed ${seed} fails: ${detail}`, `  ${replay}`].join("\n"));
  }
  done++;
  if (performance.now() - reportedAt > progressIntervalMs) progress();
}
progress();
process.exit(failures === 0 ? 0 : 1);

function simulationOf(seed: number): ClusterSimulation | ControllerSimulation | DatabaseSimulation {
  if (values.controllers) return new ControllerSimulation(seed);
  return values.database ? new DatabaseSimulation(seed, databaseMutation) : new ClusterSimulation(seed, mutation);
}

/** Entries are bytes. */
function readable(line: string): string {
  return line.replaceAll(/[^ -~→]+/g, " ").slice(0, lineCharsMax);
}

function add(report: ClusterReport | ControllerReport | DatabaseReport): void {
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

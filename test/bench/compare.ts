import { type ComparedServer, openComparedServer } from "./compared-server.ts";
import { cleanUp, comparedWorks, prepare } from "./compared-works.ts";

const usage = `compare NAME=KUBECONFIG@PID[,PID...] ... [--seconds n] [--objects n] [--rounds n] [--only text]

Runs the same requests against running servers of the Kubernetes API, one after the other, and prints CPU time and rate
of each. NAME is a word for the table, PIDs are all processes of a server, such as its store's. The first server is the
one to which the others are compared. It writes to the namespace default, so take servers without data of value.

    compare kube=up/kubeconfig@101,102 quorate=data/kubeconfig@103`;

interface Options {
  seconds: number;
  objects: number;
  rounds: number;
  only: string;
}

/** The best of all rounds. */
interface Result {
  readonly cpuUs: number;
  readonly perSecond: number;
}

const options: Options = { seconds: 5, objects: 10_000, rounds: 2, only: "" };
const targets: string[] = [];
const args = Bun.argv.slice(2);
for (let at = 0; at < args.length; at++) {
  const arg = args[at] as string;
  if (arg === "--only") options.only = args[++at] ?? fail();
  else if (arg === "--seconds" || arg === "--objects" || arg === "--rounds") {
    options[arg.slice(2) as "seconds"] = positive(args[++at]);
  } else targets.push(arg);
}
if (targets.length === 0) fail();

const servers = await Promise.all(targets.map(open));
for (const server of servers) await prepare(server, options.objects);
const works = comparedWorks(options.objects).filter(({ name }) => name.includes(options.only));
console.log(
  `${options.objects} ConfigMaps of 2 KiB; ${options.rounds} rounds of ${options.seconds} s, the best of each`,
);
console.log(`| work | ${["CPU", "rate"].map((figure) => `${figure}, ${names(" : ")} | × `).join("| ")}|`);
console.log("|---|---|---|---|---|");
for (const work of works) {
  const results: Result[] = servers.map(() => ({ cpuUs: Number.POSITIVE_INFINITY, perSecond: 0 }));
  for (let round = 0; round < options.rounds; round++) {
    for (const [at, server] of servers.entries()) {
      const { count, cpuSeconds, seconds } = await work.run(server, options.seconds);
      const cpuUs = (1e6 * cpuSeconds) / count;
      const perSecond = count / seconds;
      const best = results[at] as Result;
      results[at] = { cpuUs: Math.min(cpuUs, best.cpuUs), perSecond: Math.max(perSecond, best.perSecond) };
    }
  }
  const first = results[0] as Result;
  const last = results.at(-1) as Result;
  console.log(
    `| ${work.name} | ${results.map(({ cpuUs }) => duration(cpuUs)).join(" : ")} | ${(first.cpuUs / last.cpuUs).toFixed(1)} | ${results.map(({ perSecond }) => rate(perSecond)).join(" : ")} | ${(last.perSecond / first.perSecond).toFixed(1)} |`,
  );
}
for (const server of servers) await cleanUp(server);
process.exit(0);

function open(target: string): Promise<ComparedServer> {
  const parts = /^([^=]+)=(.+)@([0-9]+(?:,[0-9]+)*)$/.exec(target);
  const [, name, kubeconfig, pids] = parts ?? fail();
  return openComparedServer(name as string, kubeconfig as string, (pids as string).split(",").map(Number));
}

function names(separator: string): string {
  return servers.map(({ name }) => name).join(separator);
}

function duration(us: number): string {
  return us >= 10_000 ? `${(us / 1e3).toFixed(1)} ms` : `${us.toFixed(us < 10 ? 1 : 0)} µs`;
}

function rate(perSecond: number): string {
  return `${perSecond.toFixed(perSecond < 10 ? 1 : 0)}/s`;
}

function positive(text: string | undefined): number {
  const value = Number(text);
  return value > 0 ? value : fail();
}

function fail(): never {
  console.error(usage);
  process.exit(2);
}

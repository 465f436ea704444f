import type { MemberProcess } from "../../integration/member-process.ts";
import { BenchCluster } from "../cluster.ts";
import { seedDirectory } from "../documents.ts";
import { FailoverLoad, type Totals } from "../failover-load.ts";
import { makeProgram, peakBytes, residentBytes, temporaryDirectory } from "../process.ts";
import type { Figure, Options } from "../report.ts";

const objects = 20_000;
const informers = 500;
const writers = 8;
const members = 3;
const settleMs = 1_000;

/**
 * W7: 500 watchers on their own connections, when their server is killed and restarted; then a rolling restart of three.
 */
export async function restartStorm({ scale }: Options): Promise<Figure[]> {
  await using directory = await temporaryDirectory();
  await using build = await temporaryDirectory();
  const program = await makeProgram(build.path);
  await using cluster = BenchCluster.empty({ program, directory: directory.path, members });
  const first = await cluster.add();
  await seedDirectory(first.directory, Math.round(objects * scale));
  await first.start(["up"]);
  const alone = await storm(cluster, "one member killed", (load) => killAndStart(first, load));
  await cluster.grow(members);
  return [...alone, ...(await storm(cluster, "rolling restart of three", (load) => rollingRestart(cluster, load)))];
}

async function storm(
  cluster: BenchCluster,
  what: string,
  run: (load: FailoverLoad) => Promise<number>,
): Promise<Figure[]> {
  const [first] = cluster.members as [MemberProcess];
  const endpoints = cluster.members.map(({ url }) => url);
  using load = new FailoverLoad({ endpoints, token: first.token, writers, readers: 0, watchers: informers });
  await load.start();
  await load.everybodySees();
  await Bun.sleep(settleMs);
  const steadyBytes = residentBytes(first.pid);
  const syncedMs = await run(load);
  const peak = peakBytes(first.pid);
  const { relists, misplacedEvents, missingEvents, events } = await load.finish();
  return [
    { name: `${what}: until all are in sync`, value: syncedMs, unit: "ms" },
    {
      name: `${what}: peak memory`,
      value: peak / 1e6,
      unit: "MB",
      note: `${(steadyBytes / 1e6).toFixed(0)} MB before`,
    },
    {
      name: `${what}: faults`,
      value: relists + misplacedEvents + missingEvents,
      unit: "",
      note: faults({ relists, misplacedEvents, missingEvents, events }),
    },
  ];
}

function faults(all: Pick<Totals, "relists" | "misplacedEvents" | "missingEvents" | "events">): string {
  return `of ${all.events} events ${all.missingEvents} missing, ${all.misplacedEvents} twice or out of order; ${all.relists} lists anew`;
}

/** Returns the time from the kill until all watchers are up to date again. */
async function killAndStart(member: MemberProcess, load: FailoverLoad): Promise<number> {
  const begunMs = performance.now();
  await member.stop("SIGKILL");
  await member.start(["up"]);
  await load.everybodySees();
  return performance.now() - begunMs;
}

/** Returns the longest interruption of the three, each counted from SIGTERM. */
async function rollingRestart(cluster: BenchCluster, load: FailoverLoad): Promise<number> {
  let longestMs = 0;
  for (const member of cluster.members) {
    const begunMs = performance.now();
    await member.stop("SIGTERM");
    await load.everybodySees();
    longestMs = Math.max(longestMs, performance.now() - begunMs);
    await member.start(["up"]);
    await cluster.settled();
  }
  return longestMs;
}

import { Client } from "../client.ts";
import { BenchCluster } from "../cluster.ts";
import { CreateLoad } from "../create-load.ts";
import { PreparedCreates } from "../prepared-creates.ts";
import { makeProgram, temporaryDirectory } from "../process.ts";
import { type Figure, type Options, percentile } from "../report.ts";

const writers = 64;
const connectionsEach = 4;

/** W4 on one member, and on three that share this machine, with slower disks. The clients are spread over all members. */
export async function clusterCreates({ seconds }: Options): Promise<Figure[]> {
  await using build = await temporaryDirectory();
  const program = await makeProgram(build.path);
  const figures: Figure[] = [];
  for (const members of [1, 3]) {
    for (const addedSyncMs of [0, 2, 10]) {
      await using directory = await temporaryDirectory();
      await using cluster = await BenchCluster.start({ program, directory: directory.path, members, addedSyncMs });
      const { latenciesMs, perSecond, cpuEach, driverEach } = await saturate(cluster, seconds);
      const spread = [0.5, 0.99].map((share) => percentile(latenciesMs, share).toFixed(1));
      figures.push({
        name: `${members} ${members === 1 ? "member" : "members"}, sync +${addedSyncMs} ms`,
        value: perSecond,
        unit: "/s",
        note: `p50 ${spread[0]} ms, p99 ${spread[1]} ms, CPU ${cpuEach.toFixed(0)} us each, driver ${driverEach.toFixed(0)} us`,
      });
    }
  }
  return figures;
}

async function saturate(cluster: BenchCluster, seconds: number) {
  const clients = cluster.members.flatMap((member) =>
    Array.from({ length: connectionsEach }, () => new Client(cluster.served(member))),
  );
  const load = new CreateLoad({ clients, writers, bodies: new PreparedCreates() });
  await load.warmUp();
  const before = { cpu: cluster.cpuSeconds(), own: process.cpuUsage(), ms: performance.now() };
  const latenciesMs = await load.run(1_000 * seconds);
  const elapsed = (performance.now() - before.ms) / 1_000;
  const cpuEach = (1e6 * (cluster.cpuSeconds() - before.cpu)) / latenciesMs.length;
  const own = process.cpuUsage(before.own);
  const driverEach = (own.user + own.system) / latenciesMs.length;
  for (const client of clients) client[Symbol.dispose]();
  return { latenciesMs, perSecond: latenciesMs.length / elapsed, cpuEach, driverEach };
}

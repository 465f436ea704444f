import type { MemberProcess } from "../../integration/member-process.ts";
import { BenchCluster } from "../cluster.ts";
import { FailoverLoad } from "../failover-load.ts";
import { calmMs, figuresOf, Scene, stretchMs, times, totals } from "../failover-scene.ts";
import { InstalledProgram } from "../installed-program.ts";
import { makeProgram, temporaryDirectory } from "../process.ts";
import type { Figure, Options } from "../report.ts";

const members = 3;
const writers = 64;
const readers = 16;
const watchers = 30;
const kills = 10;
const pauses = 3;
const transfers = 10;

/**
 * W12: effects on 64 writers, 16 readers and watchers of three members when members are killed, stopped and restarted.
 */
export async function failover({ scale, from }: Options): Promise<Figure[]> {
  await using directory = await temporaryDirectory();
  await using build = await temporaryDirectory();
  await using earlierBuild = await temporaryDirectory();
  const program = await makeProgram(build.path);
  const installed = new InstalledProgram(directory.path);
  await installed.install(from === undefined ? program : await makeProgram(earlierBuild.path, from));
  await using cluster = await BenchCluster.start({ program: installed.path, directory: directory.path, members });
  const [first] = cluster.members as [MemberProcess];
  const endpoints = cluster.members.map(({ url }) => url);
  using load = new FailoverLoad({ endpoints, token: first.token, writers, readers, watchers: watchers * scale });
  await load.start();
  await Bun.sleep(stretchMs);

  const scene = new Scene(cluster, load);
  const figures: Figure[] = [];
  if (from !== undefined) {
    await installed.install(program);
    figures.push(...figuresOf(`rolling upgrade from ${from}`, await scene.rollingRestart()));
  }
  const calm = await times(transfers, () => scene.observe(undefined, () => Bun.sleep(calmMs)));
  figures.push(...figuresOf("undisturbed", calm));
  figures.push(...figuresOf("leader killed", await times(kills, () => scene.killLeader())));
  figures.push(...figuresOf("leader stopped for 5 s", await times(pauses, () => scene.pauseLeader())));
  figures.push(...figuresOf("leadership handed over", await times(transfers, () => scene.transfer())));
  figures.push(...figuresOf("rolling restart", await scene.rollingRestart()));
  return [...figures, ...totals(await load.finish())];
}

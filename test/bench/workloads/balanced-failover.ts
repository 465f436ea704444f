import { freePorts } from "../../../raft/testing/free-ports.ts";
import { findHaproxy, writeHaproxyFiles } from "../../../src/cli/cluster/local-cluster-balancer.ts";
import { eventually, type MemberProcess } from "../../integration/member-process.ts";
import { Client } from "../client.ts";
import { BenchCluster } from "../cluster.ts";
import { FailoverLoad } from "../failover-load.ts";
import { figuresOf, Scene, stretchMs, times, totals } from "../failover-scene.ts";
import { makeProgram, temporaryDirectory } from "../process.ts";
import type { Figure, Options } from "../report.ts";

const members = 3;
const writers = 64;
const readers = 16;
const watchers = 1_000;
const kills = 3;
const pauses = 2;
/** Time in which all watchers connect. */
const connectMs = 10_000;

/** W12 behind haproxy, with a thousand watchers on their own connections. haproxy chooses their servers. */
export async function balancedFailover({ scale }: Options): Promise<Figure[]> {
  await using directory = await temporaryDirectory();
  await using build = await temporaryDirectory();
  const program = await makeProgram(build.path);
  await using cluster = await BenchCluster.start({ program, directory: directory.path, members });
  const [first] = cluster.members as [MemberProcess];
  await using balancer = await startBalancer(cluster, directory.path);
  const endpoints = [balancer.url];
  const crowd = { writers, readers, watchers: watchers * scale, watchersFollowOne: true };
  using load = new FailoverLoad({ endpoints, token: first.token, ...crowd });
  await load.start();
  await Bun.sleep(connectMs);

  const scene = new Scene(cluster, load);
  const figures = figuresOf("undisturbed", [await scene.observe(undefined, () => Bun.sleep(stretchMs))]);
  figures.push(...figuresOf("leader killed", await times(kills, () => scene.killLeader())));
  figures.push(...figuresOf("leader stopped for 5 s", await times(pauses, () => scene.pauseLeader())));
  figures.push(...figuresOf("rolling restart", await scene.rollingRestart()));
  return [...figures, ...totals(await load.finish())];
}

async function startBalancer(cluster: BenchCluster, directory: string): Promise<AsyncDisposable & { url: string }> {
  const haproxy = findHaproxy();
  if (haproxy === undefined) throw new Error("haproxy is not installed");
  const [port = 0] = await freePorts(1);
  const [first] = cluster.members as [MemberProcess];
  const servers = cluster.members.map(({ name, port }) => ({ name, address: `127.0.0.1:${port}` }));
  const dataDirectory = first.directory;
  const path = await writeHaproxyFiles({ directory, dataDirectory, bind: `127.0.0.1:${port}`, servers });
  const child = Bun.spawn([haproxy, "-db", "-f", path], { stdout: "ignore", stderr: "ignore" });
  const url = `https://127.0.0.1:${port}`;
  await eventually(async () => {
    using client = new Client({ url, token: first.token });
    return await client.expect("GET", "/readyz").catch(() => undefined);
  });
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

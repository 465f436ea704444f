import type { MemberProcess } from "../../integration/member-process.ts";
import { Client } from "../client.ts";
import { BenchCluster } from "../cluster.ts";
import { load } from "../load.ts";
import { PreparedCreates } from "../prepared-creates.ts";
import { cpuSeconds, makeProgram, temporaryDirectory } from "../process.ts";
import type { Figure, Options } from "../report.ts";

const objects = 2_000;
const createdAtOnce = 64;
const members = 3;
const warmUpSeconds = 2;
const shapes = [
  [8, 32],
  [1, 1],
] as const;

/**
 * W1 in a cluster: consistent GETs on a follower, which asks the leader for the committed index, compared with those of a
 * single replica.
 */
export async function clusterGets({ seconds }: Options): Promise<Figure[]> {
  await using directory = await temporaryDirectory();
  await using build = await temporaryDirectory();
  const program = await makeProgram(build.path);
  await using cluster = await BenchCluster.start({ program, directory: directory.path, members: 1 });
  const [first] = cluster.members as [MemberProcess];
  const paths = await create(cluster.served(first));
  const measure = async (what: string, member: MemberProcess, query: string, alone?: readonly Figure[]) => {
    const measured: Figure[] = [];
    const served = cluster.served(member);
    const uris = paths.map((path) => path + query);
    await load(served, { paths: uris, connections: 8, streams: 32, seconds: warmUpSeconds });
    for (const [position, [connections, streams]] of shapes.entries()) {
      const leaderCpu = () => (member === first ? 0 : cpuSeconds(first.pid));
      const before = { own: cpuSeconds(member.pid), leader: leaderCpu() };
      const result = await load(served, { paths: uris, connections, streams, seconds });
      const each = (used: number) => ((1e6 * used) / (result.requestsPerSecond * seconds)).toFixed(0);
      const ceiling = alone?.[position]?.value;
      measured.push({
        name: `${what}, ${connections} x ${streams}`,
        value: result.requestsPerSecond,
        unit: "req/s",
        ...(ceiling === undefined ? {} : { ceiling }),
        note: `mean ${result.meanMs.toFixed(3)} ms, CPU ${each(cpuSeconds(member.pid) - before.own)} us and ${each(leaderCpu() - before.leader)} us of the leader, ${result.driver}`,
      });
    }
    return measured;
  };
  const alone = await measure("alone, consistent", first, "");
  await cluster.grow(members);
  const leader = await cluster.leader();
  const follower = cluster.members.find((member) => member !== leader) as MemberProcess;
  return [
    ...alone,
    ...(await measure("follower, resourceVersion=0", follower, "?resourceVersion=0", alone)),
    ...(await measure("follower, consistent", follower, "", alone)),
    ...(await measure("leader, consistent", leader, "", alone)),
  ];
}

/** Returns the paths of the new objects, in any order. */
async function create(served: ConstructorParameters<typeof Client>[0]): Promise<string[]> {
  using client = new Client(served);
  const creates = new PreparedCreates();
  const paths: string[] = [];
  const write = async () => {
    while (paths.length < objects) {
      const body = await client.expect("POST", creates.path, creates.next());
      const { metadata } = JSON.parse(body.toString()) as { metadata: { name: string } };
      paths.push(`${creates.path}/${metadata.name}`);
    }
  };
  await Promise.all(Array.from({ length: createdAtOnce }, write));
  return paths;
}

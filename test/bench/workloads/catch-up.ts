import type { MemberProcess } from "../../integration/member-process.ts";
import { BenchCluster } from "../cluster.ts";
import { collection, objectName, seedDirectory } from "../documents.ts";
import { cpuSeconds, makeProgram, residentBytes, temporaryDirectory } from "../process.ts";
import type { Figure, Options } from "../report.ts";

const objects = 100_000;
const pollMs = 20;

/** W8 in a cluster: a member joins a cluster with many objects, which it receives as an image. */
export async function catchUp({ scale }: Options): Promise<Figure[]> {
  const count = Math.round(objects * scale);
  await using directory = await temporaryDirectory();
  await using build = await temporaryDirectory();
  const program = await makeProgram(build.path);
  await using cluster = BenchCluster.empty({ program, directory: directory.path, members: 1 });
  const first = await cluster.add();
  await seedDirectory(first.directory, count);
  await first.start(["up"]);
  const invitation = await first.invitation();
  const newcomer = await cluster.add();
  const startMs = performance.now();
  const leaderCpu = cpuSeconds(first.pid);
  const starting = newcomer.start(invitation);
  const slowestReadMs = await slowestRead(first, starting);
  const servingMs = performance.now() - startMs;
  const last = await newcomer.request("GET", `${collection}/${objectName(count - 1)}`);
  if (last.code !== 200) throw new Error(`the new member answers ${last.code}`);
  const readMs = performance.now() - startMs;
  await cluster.settled();
  const votingMs = performance.now() - startMs;
  const bytes = await first.request("GET", "/cluster/status");
  return [
    { name: "objects", value: bytes.json.objects, unit: "" },
    { name: "command to serving", value: servingMs, unit: "ms" },
    { name: "command to the first consistent read", value: readMs, unit: "ms" },
    { name: "command to voting", value: votingMs, unit: "ms" },
    { name: "CPU of the new member", value: cpuSeconds(newcomer.pid), unit: "s" },
    { name: "CPU of the leader", value: cpuSeconds(first.pid) - leaderCpu, unit: "s" },
    { name: "memory of the new member", value: residentBytes(newcomer.pid) / 1e6, unit: "MB" },
    { name: "memory of the leader", value: residentBytes(first.pid) / 1e6, unit: "MB" },
    { name: "slowest read on the leader meanwhile", value: slowestReadMs, unit: "ms" },
  ];
}

/** Sends one GET after the other until `end`. */
async function slowestRead(member: MemberProcess, end: Promise<void>): Promise<number> {
  let isOver = false;
  const ended = end.finally(() => (isOver = true));
  let slowestMs = 0;
  while (!isOver) {
    const begunMs = performance.now();
    await member.request("GET", `${collection}/${objectName(0)}`);
    slowestMs = Math.max(slowestMs, performance.now() - begunMs);
    await Bun.sleep(pollMs);
  }
  await ended;
  return slowestMs;
}

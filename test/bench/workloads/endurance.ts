import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { MemberProcess } from "../../integration/member-process.ts";
import { Client } from "../client.ts";
import { BenchCluster } from "../cluster.ts";
import { makeProgram, residentBytes, temporaryDirectory } from "../process.ts";
import { type Figure, type Options, percentile } from "../report.ts";
import { Updates } from "../updates.ts";

const objects = 1_000;
const connections = 8;
const updatesPerSecond = 1_000;
/** Factor by which this run is longer than others; a million updates at `--seconds 170`. */
const longer = 6;
const retentionSeconds = 5;
const idleMs = 3 * 1_000 * retentionSeconds;
const sampleMs = 250;

/** W13, shortened: the same objects are replaced continually, with a history of seconds; then the server is idle. */
export async function endurance({ seconds }: Options): Promise<Figure[]> {
  await using directory = await temporaryDirectory();
  await using build = await temporaryDirectory();
  const program = await makeProgram(build.path);
  await using cluster = BenchCluster.empty({ program, directory: directory.path, members: 1 });
  const member = await cluster.add();
  const retention = ["--history-retention-duration", `${retentionSeconds}s`];
  await member.start(["cluster", "init"], [...member.flags, ...retention]);
  const clients = Array.from({ length: connections }, () => new Client(cluster.served(member)));
  const updates = new Updates(clients, objects);
  await updates.create();
  const sampler = new Sampler(member);
  const latenciesMs = await updates.atRate(updatesPerSecond, longer * seconds);
  const busy = sampler.peak;
  await Bun.sleep(idleMs);
  const { disk } = sampler.now();
  sampler.stop();
  const list = await (clients[0] as Client).expect("GET", "/api/v1/namespaces/default/configmaps");
  for (const client of clients) client[Symbol.dispose]();
  const written = (latenciesMs.length * list.byteLength) / objects;
  const spread = [0.5, 0.99].map((share) => percentile(latenciesMs, share).toFixed(1));
  return [
    {
      name: "updates",
      value: latenciesMs.length,
      unit: "",
      note: `${updatesPerSecond}/s, ${(written / 1e6).toFixed(0)} MB`,
    },
    {
      name: "99.9 % of the updates",
      value: percentile(latenciesMs, 0.999),
      unit: "ms",
      note: `p50 ${spread[0]}, p99 ${spread[1]}, max ${Math.max(...latenciesMs).toFixed(1)} ms`,
    },
    { name: "live objects", value: list.byteLength / 1e6, unit: "MB" },
    { name: "most on disk", value: busy.disk / 1e6, unit: "MB" },
    { name: "on disk when idle", value: disk / 1e6, unit: "MB" },
    { name: "most memory", value: busy.memory / 1e6, unit: "MB" },
    { name: "memory when idle", value: residentBytes(member.pid) / 1e6, unit: "MB" },
  ];
}

class Sampler {
  readonly #member: MemberProcess;
  readonly #timer: ReturnType<typeof setInterval>;
  peak = { disk: 0, memory: 0 };

  constructor(member: MemberProcess) {
    this.#member = member;
    this.#timer = setInterval(() => this.now(), sampleMs);
  }

  now(): { disk: number; memory: number } {
    const { directory, pid } = this.#member;
    const sample = { disk: bytesBelow(directory), memory: residentBytes(pid) };
    const { disk, memory } = this.peak;
    this.peak = { disk: Math.max(disk, sample.disk), memory: Math.max(memory, sample.memory) };
    return sample;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

/** Returns the allocated bytes. Files may disappear meanwhile. */
function bytesBelow(directory: string): number {
  let bytes = 0;
  for (const name of readdirSync(directory, { recursive: true, encoding: "utf8" })) {
    const found = statSync(join(directory, name), { throwIfNoEntry: false });
    if (found?.isFile() === true) bytes += 512 * found.blocks;
  }
  return bytes;
}

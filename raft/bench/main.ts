import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { makeCertificates } from "../example/certificates.ts";
import { openSystemDisk } from "../storage/system-disk.ts";
import type { MemberOptions, Order, Report } from "./measured-process.ts";

/**
 * Measures entries per second and latency of one member, or of three processes on this machine, and compares them with
 * the disk and with bare members (bare-member.ts): `bun raft/bench/main.ts [--members 1,3] [--concurrency 1,64,1024]
 * [--sync 0,2,10] [--seconds 4]`.
 */
const { values } = parseArgs({
  options: {
    members: { type: "string", default: "1,3" },
    concurrency: { type: "string", default: "1,64,1024" },
    sync: { type: "string", default: "0,2,10" },
    seconds: { type: "string", default: "4" },
    bytes: { type: "string", default: "2048" },
    directory: { type: "string", default: tmpdir() },
  },
});
const programs = { raft: "member.ts", bare: "bare-member.ts" } as const;
type Program = keyof typeof programs;
const numbers = (text: string) => text.split(",").map(Number);
/** Warm-up time, until the code is compiled. */
const warmUpSeconds = 3;

class Member {
  readonly #reports: Report[] = [];
  readonly #process: Bun.Subprocess<"ignore", "inherit", "inherit">;
  #wake = () => {};
  #end: string | undefined;

  constructor(program: Program, options: MemberOptions) {
    const script = join(import.meta.dir, programs[program]);
    this.#process = Bun.spawn([process.execPath, script, JSON.stringify(options)], {
      stdin: "ignore",
      stdout: "inherit",
      stderr: "inherit",
      ipc: (report: Report) => {
        this.#reports.push(report);
        this.#wake();
      },
      onExit: (_child, code, signal) => {
        this.#end = `a member ended with ${signal ?? code}`;
        this.#wake();
      },
    });
  }

  order(order: Order): void {
    if (this.#end !== undefined) throw new Error(this.#end);
    this.#process.send(order);
  }

  /** Waits for a report. Rejects when the process ended without it. */
  async report<Kind extends Report["report"]>(kind: Kind): Promise<Extract<Report, { report: Kind }>> {
    for (;;) {
      const found = this.#reports.findIndex(({ report }) => report === kind);
      if (found >= 0) return this.#reports.splice(found, 1)[0] as Extract<Report, { report: Kind }>;
      if (this.#end !== undefined) throw new Error(this.#end);
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  async status() {
    this.order({ order: "status" });
    return this.report("status");
  }

  async end(): Promise<void> {
    if (this.#end === undefined) this.#process.disconnect();
    await this.#process.exited;
  }
}

interface Setup {
  readonly program: Program;
  readonly count: number;
  readonly addedSyncMs: number;
}

async function withCluster<T>(
  { program, count, addedSyncMs }: Setup,
  run: (members: Member[]) => Promise<T>,
): Promise<T> {
  const directory = mkdtempSync(join(values.directory, "raft-bench-"));
  const ids = Array.from({ length: count }, (_, position) => position + 1);
  makeCertificates(directory, ids);
  const members = ids.map((id) => new Member(program, { id, members: count, directory, addedSyncMs }));
  try {
    const ports = await Promise.all(members.map(async (member) => (await member.report("listening")).port));
    for (const member of members) member.order({ order: "peers", ports });
    return await run(members);
  } finally {
    await Promise.all(members.map((member) => member.end()));
    rmSync(directory, { recursive: true, force: true });
  }
}

async function leaderOf(members: readonly Member[]): Promise<Member> {
  for (;;) {
    for (const member of members) if ((await member.status()).leads) return member;
    await Bun.sleep(50);
  }
}

async function measure(members: readonly Member[], concurrency: number) {
  const leader = await leaderOf(members);
  const order = { order: "load", concurrency, bytes: Number(values.bytes) } as const;
  leader.order({ ...order, seconds: warmUpSeconds });
  await leader.report("load");
  const before = await Promise.all(members.map((member) => member.status()));
  leader.order({ ...order, seconds: Number(values.seconds) });
  const { entries, seconds, latenciesMs } = await leader.report("load");
  const after = await Promise.all(members.map((member) => member.status()));
  const cpuMs = after.reduce((sum, { cpuMs: total }, position) => sum + total - (before[position]?.cpuMs ?? 0), 0);
  const [p50 = 0, p99 = 0, max = 0] = latenciesMs;
  const rss = Math.max(...after.map(({ rssBytes }) => rssBytes)) / (1 << 20);
  return {
    rate: entries / seconds,
    p50,
    p99,
    max,
    cpuMicroseconds: (1000 * cpuMs) / entries,
    cores: cpuMs / 1000 / seconds,
    rss,
  };
}

/** Measures sequential synced writes per second into a file of fixed size. */
async function syncsPerSecond(bytes: number): Promise<number> {
  const directory = mkdtempSync(join(values.directory, "raft-bench-"));
  const file = openSystemDisk(directory).open("probe", "create");
  const size = 16 << 20;
  await file.write(new Uint8Array(size), 0);
  await file.sync();
  const begunMs = performance.now();
  let count = 0;
  for (; performance.now() - begunMs < 1000; count++) {
    await file.write(new Uint8Array(bytes), (count * bytes) % (size - bytes));
    await file.sync();
  }
  file.close();
  rmSync(directory, { recursive: true, force: true });
  return (1000 * count) / (performance.now() - begunMs);
}

function print(...cells: readonly (string | number)[]): Promise<number> {
  const text = cells.map((cell) => (typeof cell === "number" ? cell.toFixed(cell < 100 ? 2 : 0) : cell).padStart(9));
  return Bun.write(Bun.stdout, `${text.join(" ")}\n`);
}

await print(`this disk: ${(await syncsPerSecond(2300)).toFixed(0)} synced writes of 2300 bytes per second`);
await print(
  "members",
  "+ms/sync",
  "clients",
  "entries/s",
  "p50 ms",
  "p99 ms",
  "max ms",
  "CPU µs",
  "cores",
  "RSS MiB",
  "bare/s",
  "of bare",
);
for (const count of numbers(values.members)) {
  for (const addedSyncMs of numbers(values.sync)) {
    await withCluster({ program: "raft", count, addedSyncMs }, (raft) =>
      withCluster({ program: "bare", count, addedSyncMs }, async (bare) => {
        for (const concurrency of numbers(values.concurrency)) {
          const reached = await measure(raft, concurrency);
          const ceiling = await measure(bare, concurrency);
          const { rate, p50, p99, max, cpuMicroseconds, cores, rss } = reached;
          await print(
            String(count),
            String(addedSyncMs),
            String(concurrency),
            rate,
            p50,
            p99,
            max,
            cpuMicroseconds,
            cores,
            rss,
            ceiling.rate,
            `${((100 * rate) / ceiling.rate).toFixed(0)} %`,
          );
        }
      }),
    );
  }
}

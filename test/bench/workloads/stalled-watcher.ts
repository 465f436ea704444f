import { Client } from "../client.ts";
import { collection } from "../documents.ts";
import { residentBytes, serve, temporaryDirectory } from "../process.ts";
import { type Figure, type Options, percentile } from "../report.ts";
import { startCrowd } from "../start-crowd.ts";
import { latencies, Updates } from "../updates.ts";

const healthy = 99;
const connections = 5;
const objects = 100;
const eventsPerSecond = 300;
const catchUpSeconds = 5;
const settleMs = 500;
const rounds = 5;

/** W11: 99 watchers that read and one that does not; then that one reads again. */
export async function stalledWatcher({ seconds }: Options): Promise<Figure[]> {
  await using directory = await temporaryDirectory();
  await using served = await serve("server", directory.path);
  using writer = new Client(served);
  const updates = new Updates(writer, objects);
  await updates.create();
  const clients = Array.from({ length: connections }, () => new Client(served));
  const samples: number[] = [];
  for (let at = 0; at < healthy; at++) {
    const client = clients[at % connections] as Client;
    client.open("GET", `${collection}?watch=1`).on("data", (chunk: Buffer) => samples.push(...latencies(chunk)));
  }
  await updates.atRate(eventsPerSecond, 2);
  const memory = residentBytes(served.pid);
  const alone: number[][] = [];
  const together: number[][] = [];
  let sent = 0;
  let caughtUp = 0;
  // In turns, so that a busy moment of the machine affects both sides.
  for (let round = 0; round < rounds; round++) {
    samples.length = 0;
    await updates.atRate(eventsPerSecond, seconds);
    alone.push(samples.splice(0));
    const stalled = startCrowd(served, { connections: 1, streams: 1, seconds: seconds + catchUpSeconds });
    await Bun.sleep(settleMs);
    stalled.pause();
    samples.length = 0;
    const from = updates.count;
    await updates.atRate(eventsPerSecond, seconds);
    together.push(samples.splice(0));
    stalled.resume();
    caughtUp += await stalled.received();
    sent += objects + updates.count - from;
  }
  const grown = residentBytes(served.pid) - memory;
  for (const client of clients) client[Symbol.dispose]();
  const p99 = (runs: readonly number[][]) => median(runs.map((run) => percentile(run, 0.99)));
  const p50 = (runs: readonly number[][]) => `p50 ${median(runs.map((run) => percentile(run, 0.5))).toFixed(2)} ms`;
  return [
    { name: "p99 of 99 watchers", value: p99(alone), unit: "ms", note: `${p50(alone)}, medians of ${rounds}` },
    { name: "p99 beside a stalled one", value: p99(together), unit: "ms", note: p50(together) },
    { name: "memory grown meanwhile", value: grown / 1e6, unit: "MB" },
    { name: "events the stalled one got", value: caughtUp, unit: "", ceiling: sent },
  ];
}

function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

import { Client } from "../client.ts";
import { collection } from "../documents.ts";
import { startCrowd } from "../start-crowd.ts";
import { residentBytes, serve, temporaryDirectory } from "../process.ts";
import { type Figure, type Options, percentile } from "../report.ts";
import { latencies, Updates } from "../updates.ts";

const healthy = 99;
const connections = 5;
const objects = 100;
const eventsPerSecond = 300;
const catchUpSeconds = 5;
const settleMs = 500;

/** W11: 99 watchers that read and one that does not; then it reads again. */
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
  samples.length = 0;
  await updates.atRate(eventsPerSecond, seconds);
  const alone = samples.splice(0);
  const memory = residentBytes(served.pid);

  const stalled = startCrowd(served, { connections: 1, streams: 1, seconds: seconds + catchUpSeconds });
  await Bun.sleep(settleMs);
  stalled.pause();
  const from = updates.count;
  await updates.atRate(eventsPerSecond, seconds);
  const together = samples.splice(0);
  const grown = residentBytes(served.pid) - memory;
  stalled.resume();
  const caughtUp = await stalled.received();
  for (const client of clients) client[Symbol.dispose]();
  return [
    {
      name: "p99 of 99 watchers",
      value: percentile(alone, 0.99),
      unit: "ms",
      note: `p50 ${percentile(alone, 0.5).toFixed(2)} ms`,
    },
    {
      name: "p99 beside a stalled one",
      value: percentile(together, 0.99),
      unit: "ms",
      note: `p50 ${percentile(together, 0.5).toFixed(2)} ms`,
    },
    { name: "memory grown meanwhile", value: grown / 1e6, unit: "MB" },
    { name: "events the stalled one got", value: caughtUp, unit: "", ceiling: objects + updates.count - from },
  ];
}

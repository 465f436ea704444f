import { Client } from "../client.ts";
import { collection } from "../documents.ts";
import { cpuSeconds, residentBytes, type Served, serve, temporaryDirectory } from "../process.ts";
import { type Figure, type Options, percentile } from "../report.ts";
import { startCrowd } from "../start-crowd.ts";
import { latencies, Updates } from "../updates.ts";

const connections = 10;
const watchersPerConnection = 100;
const watchers = connections * watchersPerConnection;
const objects = 100;
const eventsPerSecond = 100;
const writers = 64;
const settleMs = 1_000;
const catchUpSeconds = 10;

/** W6: a thousand watchers of one collection, first at a fixed rate of events, then at the highest possible rate. */
export async function watches({ seconds }: Options): Promise<Figure[]> {
  await using directory = await temporaryDirectory();
  await using served = await serve("server", directory.path);
  using writer = new Client(served);
  const updates = new Updates(writer, objects);
  await updates.create();
  await Bun.sleep(settleMs);

  const idle = residentBytes(served.pid);
  const crowd = startCrowd(served, {
    connections,
    streams: watchersPerConnection,
    seconds: 2 * seconds + catchUpSeconds,
  });
  const probe = startProbe(served);
  await Bun.sleep(settleMs);
  const idleWatcher = (residentBytes(served.pid) - idle) / watchers;

  await updates.atRate(eventsPerSecond, seconds);
  await Bun.sleep(settleMs / 2);
  const paced = probe.samples.splice(0);

  const before = { events: updates.count, cpu: cpuSeconds(served.pid), ms: performance.now() };
  await updates.saturate(writers, seconds);
  const last = updates.count;
  while (probe.received < last) await Bun.sleep(1);
  const elapsed = (performance.now() - before.ms) / 1_000;
  const cpu = cpuSeconds(served.pid) - before.cpu;
  const deliveries = (last - before.events) * watchers;
  const delivered = (await crowd.received()) / watchers;
  probe.client[Symbol.dispose]();
  return [
    { name: "idle watcher", value: idleWatcher / 1e3, unit: "KB", note: `${watchers} on ${connections} connections` },
    {
      name: `p99 at ${eventsPerSecond} events/s`,
      value: percentile(paced, 0.99),
      unit: "ms",
      note: `p50 ${percentile(paced, 0.5).toFixed(1)} ms`,
    },
    {
      name: "deliveries at saturation",
      value: deliveries / elapsed,
      unit: "/s",
      note: `${Math.round((last - before.events) / elapsed)} writes/s, p99 ${percentile(probe.samples, 0.99).toFixed(0)} ms`,
    },
    { name: "deliveries per CPU second", value: deliveries / cpu, unit: "", note: "writes included" },
    { name: "events each watcher got", value: delivered, unit: "", ceiling: objects + updates.count },
  ];
}

/** One more watcher, which times its events. */
function startProbe(served: Served) {
  const client = new Client(served);
  const probe = { client, samples: [] as number[], received: 0 };
  client.open("GET", `${collection}?watch=1`).on("data", (chunk: Buffer) => {
    const found = latencies(chunk);
    probe.received += found.length;
    probe.samples.push(...found);
  });
  return probe;
}

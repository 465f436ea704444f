import { Client } from "../client.ts";
import { CreateLoad } from "../create-load.ts";
import { PreparedCreates } from "../prepared-creates.ts";
import { cpuSeconds, serve, temporaryDirectory } from "../process.ts";
import { type Figure, type Options, percentile } from "../report.ts";

const connections = 8;

/** W4 on one replica: ConfigMaps of 2 KiB, each acknowledged once it is on disk, with several numbers of writers. */
export async function creates({ seconds }: Options): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [writers, ownKeys] of [
    [1, false],
    [64, false],
    [64, true],
    [256, false],
  ] as const) {
    await using directory = await temporaryDirectory();
    await using served = await serve("server", directory.path);
    const clients = Array.from({ length: Math.min(writers, connections) }, () => new Client(served));
    const load = new CreateLoad({ clients, writers, bodies: new PreparedCreates({ ownKeys }) });
    await load.warmUp();
    const before = { cpu: cpuSeconds(served.pid), ms: performance.now() };
    const latenciesMs = await load.run(seconds * 1_000);
    const elapsed = (performance.now() - before.ms) / 1_000;
    const cpu = (1e6 * (cpuSeconds(served.pid) - before.cpu)) / latenciesMs.length;
    const p99 = percentile(latenciesMs, 0.99).toFixed(1);
    figures.push({
      name: `creates, ${writers} writers${ownKeys ? ", no two with the same keys" : ""}`,
      value: latenciesMs.length / elapsed,
      unit: "/s",
      note: `p50 ${percentile(latenciesMs, 0.5).toFixed(2)} ms, p99 ${p99} ms, CPU ${cpu.toFixed(0)} us each`,
    });
    for (const client of clients) client[Symbol.dispose]();
  }
  return figures;
}

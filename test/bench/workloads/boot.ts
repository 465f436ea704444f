import { Client } from "../client.ts";
import { cpuSeconds, residentBytes, serve, temporaryDirectory } from "../process.ts";
import { type Figure, type Options, percentile } from "../report.ts";

const boots = 5;

/** W0: an empty data directory, from the start of the process to the first 200 of /readyz; then idle. */
export async function boot({ seconds }: Options): Promise<Figure[]> {
  const readyMs: number[] = [];
  const againMs: number[] = [];
  for (let run = 0; run < boots; run++) {
    await using directory = await temporaryDirectory();
    for (const times of [readyMs, againMs]) {
      await using served = await serve("server", directory.path);
      const askedMs = performance.now();
      using client = new Client(served);
      await client.expect("GET", "/readyz");
      times.push(served.startMs + performance.now() - askedMs);
    }
  }
  await using directory = await temporaryDirectory();
  await using served = await serve("server", directory.path);
  await Bun.sleep(1_000);
  const usedSeconds = cpuSeconds(served.pid);
  await Bun.sleep(seconds * 1_000);
  return [
    { name: "ready, first start", value: percentile(readyMs, 0.5), unit: "ms", note: `median of ${boots}` },
    { name: "ready, second start", value: percentile(againMs, 0.5), unit: "ms", note: `median of ${boots}` },
    { name: "idle memory", value: residentBytes(served.pid) / 1e6, unit: "MB" },
    { name: "idle CPU", value: (100 * (cpuSeconds(served.pid) - usedSeconds)) / seconds, unit: "% of a core" },
  ];
}

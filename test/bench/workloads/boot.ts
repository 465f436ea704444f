import { join } from "node:path";
import { Client } from "../client.ts";
import {
  cpuSeconds,
  makeProgram,
  privateBytes,
  residentBytes,
  type Served,
  startProgram,
  temporaryDirectory,
} from "../process.ts";
import { type Figure, type Options, percentile } from "../report.ts";

const root = join(import.meta.dir, "../../..");
const boots = 5;
/** Time in which a server does what can wait until it is ready, and releases the memory of its start. */
const settleMs = 5_000;

/** W0: an empty data directory, from the start of the process to the first 200 of /readyz; then idle. */
export async function boot({ seconds }: Options): Promise<Figure[]> {
  await using build = await temporaryDirectory();
  const program = await makeProgram(build.path);
  const built = await startTimes((directory) => startProgram([program], directory));
  const command = [process.execPath, join(root, "src/main.ts")];
  const sources = await startTimes((directory) => startProgram(command, directory));
  await using directory = await temporaryDirectory();
  await using served = await startProgram([program], directory.path);
  await Bun.sleep(settleMs);
  const usedSeconds = cpuSeconds(served.pid);
  await Bun.sleep(seconds * 1_000);
  const note = `median of ${boots}, CPU ${built.cpuMs} ms`;
  return [
    { name: "ready, first start", value: built.firstMs, unit: "ms", note },
    { name: "ready, second start", value: built.secondMs, unit: "ms" },
    { name: "ready, from the sources", value: sources.firstMs, unit: "ms", note: `CPU ${sources.cpuMs} ms` },
    {
      name: "idle memory",
      value: residentBytes(served.pid) / 1e6,
      unit: "MB",
      note: `${Math.round(privateBytes(served.pid) / 1e6)} MB without pages of the program's file`,
    },
    { name: "idle CPU", value: (100 * (cpuSeconds(served.pid) - usedSeconds)) / seconds, unit: "% of a core" },
  ];
}

async function startTimes(
  start: (directory: string) => Promise<Served>,
): Promise<{ firstMs: number; secondMs: number; cpuMs: number }> {
  const firstMs: number[] = [];
  const secondMs: number[] = [];
  const cpuMs: number[] = [];
  for (let run = 0; run < boots; run++) {
    await using directory = await temporaryDirectory();
    for (const times of [firstMs, secondMs]) {
      await using served = await start(directory.path);
      if (times === firstMs) cpuMs.push(cpuSeconds(served.pid) * 1_000);
      const askedMs = performance.now();
      using client = new Client(served);
      await client.expect("GET", "/readyz");
      times.push(served.startMs + performance.now() - askedMs);
    }
  }
  return {
    firstMs: percentile(firstMs, 0.5),
    secondMs: percentile(secondMs, 0.5),
    cpuMs: Math.round(percentile(cpuMs, 0.5)),
  };
}

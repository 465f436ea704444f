import { Client } from "../client.ts";
import { collection, objectName, randomFrom, seedDirectory } from "../documents.ts";
import { type LoadResult, load } from "../load.ts";
import { cpuSeconds, type Served, serve, temporaryDirectory } from "../process.ts";
import type { Figure, Options } from "../report.ts";

const objects = 10_000;
const warmUpSeconds = 1;

/**
 * W1: GET of one ConfigMap by a random name, consistent and from cache, compared with the listener with a constant body.
 */
export async function gets({ seconds, scale }: Options): Promise<Figure[]> {
  const count = Math.round(objects * scale);
  await using directory = await temporaryDirectory();
  await seedDirectory(directory.path, count);
  const random = randomFrom(1);
  const paths = Array.from({ length: count }, () => `${collection}/${objectName(Math.floor(random() * count))}`);

  await using served = await serve("server", directory.path);
  using client = new Client(served);
  const objectBytes = (await client.expect("GET", paths[0] as string)).byteLength;
  await using bare = await serve("bare", String(objectBytes), "1");

  const figures: Figure[] = [];
  for (const [connections, streams] of [
    [8, 32],
    [1, 1],
  ] as const) {
    const shape = { connections, streams, seconds };
    // Warm up both before measuring either.
    for (const [one, path] of [
      [bare, "/object"],
      [served, paths[0] as string],
    ] as const) {
      await load(one, { ...shape, seconds: warmUpSeconds, paths: [path] });
    }
    const [ceiling, ceilingCpu] = await withCpu(bare, load(bare, { ...shape, paths: ["/object"] }));
    for (const [name, query] of [
      ["consistent", ""],
      ["resourceVersion=0", "?resourceVersion=0"],
    ] as const) {
      const [result, cpu] = await withCpu(served, load(served, { ...shape, paths: paths.map((path) => path + query) }));
      const cost = (used: number, { requestsPerSecond }: LoadResult) => (1e6 * used) / (requestsPerSecond * seconds);
      figures.push({
        name: `${name}, ${connections} x ${streams}`,
        value: result.requestsPerSecond,
        unit: "req/s",
        ceiling: ceiling.requestsPerSecond,
        note: `mean ${result.meanMs.toFixed(3)} ms, CPU ${cost(cpu, result).toFixed(0)} us against ${cost(ceilingCpu, ceiling).toFixed(0)} us, ${result.driver}`,
      });
    }
  }
  return figures;
}

/** Measures the CPU seconds of a load: its cost, independent of other work on the machine. */
async function withCpu(served: Served, running: Promise<LoadResult>): Promise<[LoadResult, number]> {
  const before = cpuSeconds(served.pid);
  return [await running, cpuSeconds(served.pid) - before];
}

import { Client } from "../client.ts";
import { collection, objectName, seedDirectory } from "../documents.ts";
import { type LoadResult, load } from "../load.ts";
import { cpuSeconds, residentBytes, type Served, serve, temporaryDirectory } from "../process.ts";
import type { Figure, Options } from "../report.ts";

const objects = 10_000;
const pageSize = 500;
const requests = 3_200;
const streams = 32;

/** W2: whole lists compared with the listener streaming the same bytes, lists that select little, and pages. */
export async function lists({ seconds, scale }: Options): Promise<Figure[]> {
  const count = Math.round(objects * scale);
  await using directory = await temporaryDirectory();
  await seedDirectory(directory.path, count);
  await using served = await serve("server", directory.path);
  using client = new Client(served);
  const listBytes = (await client.expect("GET", collection)).byteLength;
  await using bare = await serve("bare", String(Math.round(listBytes / count)), String(count));

  const figures: Figure[] = [{ name: "bytes of the list", value: listBytes / 1e6, unit: "MB" }];
  for (const connections of [1, 8]) {
    const shape = { connections, streams: 1, seconds };
    const ceiling = await load(bare, { ...shape, paths: ["/list"] });
    const before = residentBytes(served.pid);
    const [result, peak] = await withPeak(served, load(served, { ...shape, paths: [collection] }));
    figures.push({
      name: `full list, ${connections} at a time`,
      value: result.bytesPerSecond / 1e6,
      unit: "MB/s",
      ceiling: ceiling.bytesPerSecond / 1e6,
      note: `mean ${result.meanMs.toFixed(0)} ms, memory +${((peak - before) / 1e6).toFixed(0)} MB`,
    });
  }
  const gzip = await load(served, {
    connections: 1,
    streams: 1,
    seconds,
    paths: [collection],
    headers: { "accept-encoding": "gzip" },
  });
  figures.push({ name: "full list, gzip", value: gzip.meanMs, unit: "ms" });
  const getsPerCpuSecond = await perCpuSecond(served, client, `${collection}/${objectName(0)}`);
  for (const [name, selector] of [
    ["lists that select none", "shard=none"],
    ["lists that select 1 %", "shard=s7"],
  ] as const) {
    const path = `${collection}?labelSelector=${encodeURIComponent(selector)}`;
    figures.push({
      name: `${name}, per CPU second`,
      value: await perCpuSecond(served, client, path),
      unit: "",
      ceiling: getsPerCpuSecond,
      note: "the ceiling is GETs of one object",
    });
  }
  const startMs = performance.now();
  const pages = await readPages(client);
  figures.push({
    name: `pages of ${pageSize}, to the end`,
    value: performance.now() - startMs,
    unit: "ms",
    note: `${pages} pages`,
  });
  return figures;
}

async function readPages(client: Client): Promise<number> {
  let token = "";
  for (let pages = 1; ; pages++) {
    const body = await client.expect("GET", `${collection}?limit=${pageSize}&continue=${encodeURIComponent(token)}`);
    const { metadata } = JSON.parse(body.toString()) as { metadata: { continue?: string } };
    if (metadata.continue === undefined) return pages;
    token = metadata.continue;
  }
}

/** Returns the number of GETs that the server answers in a second of its CPU time. */
async function perCpuSecond(served: Served, client: Client, path: string): Promise<number> {
  const answer = async (requests: number) => {
    for (let left = requests; left > 0; left -= streams) {
      await Promise.all(Array.from({ length: streams }, () => client.expect("GET", path)));
    }
  };
  await answer(requests);
  const before = cpuSeconds(served.pid);
  await answer(requests);
  return requests / (cpuSeconds(served.pid) - before);
}

/** Returns the peak resident memory of the run. */
async function withPeak(served: Served, running: Promise<LoadResult>): Promise<[LoadResult, number]> {
  let peak = 0;
  const timer = setInterval(() => (peak = Math.max(peak, residentBytes(served.pid))), 20);
  const result = await running;
  clearInterval(timer);
  return [result, Math.max(peak, residentBytes(served.pid))];
}

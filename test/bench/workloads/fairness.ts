import { join } from "node:path";
import { Client } from "../client.ts";
import { collection, objectName, seedDirectory } from "../documents.ts";
import type { Load } from "../load.ts";
import { type Served, serve, temporaryDirectory } from "../process.ts";
import { type Figure, type Options, percentile } from "../report.ts";

const objects = 10_000;
const greedyConnections = 20;
const greedyStreams = 50;
const listers = 64;
const pauseMs = 2;
const settleMs = 500;
const rounds = 3;

/**
 * W17: the latency of a modest client's GETs, alone and beside greedy clients of other users, with and without fairness.
 */
export async function fairness({ seconds, scale }: Options): Promise<Figure[]> {
  await using directory = await temporaryDirectory();
  await seedDirectory(directory.path, Math.round(objects * scale));
  const figures: Figure[] = [];
  for (const isFair of [true, false]) {
    const options = JSON.stringify({ enablePriorityAndFairness: isFair, authorizationMode: ["AlwaysAllow"] });
    await using served = await serve("server", directory.path, options);
    figures.push(...(await besides(served, seconds, isFair ? "" : ", without fairness")));
  }
  return figures;
}

async function besides(served: Served, seconds: number, suffix: string): Promise<Figure[]> {
  using client = new Client(served);
  await modestP99(client, seconds);
  const quiet: number[] = [];
  const beside: number[] = [];
  const listing: number[] = [];
  const greedy = { headers: { "impersonate-user": "greedy" }, seconds: seconds + (2 * settleMs) / 1_000 };
  // In turns, so that a busy moment of the machine affects both sides.
  for (let round = 0; round < rounds; round++) {
    quiet.push(await modestP99(client, seconds));
    const gets = loadElsewhere(served, {
      ...greedy,
      connections: greedyConnections,
      streams: greedyStreams,
      paths: [`${collection}/${objectName(1)}`],
    });
    await Bun.sleep(settleMs);
    beside.push(await modestP99(client, seconds));
    await gets;
    const lists = loadElsewhere(served, { ...greedy, connections: listers, streams: 1, paths: [collection] });
    await Bun.sleep(settleMs);
    listing.push(await modestP99(client, seconds));
    await lists;
  }
  const base = median(quiet);
  const ratio = (samples: readonly number[]) => `${(median(samples) / base).toFixed(1)} times quiet`;
  const clients = greedyConnections * greedyStreams;
  return [
    { name: `p99 of a modest client, quiet${suffix}`, value: base, unit: "ms" },
    { name: `beside ${clients} greedy clients${suffix}`, value: median(beside), unit: "ms", note: ratio(beside) },
    { name: `beside ${listers} full lists${suffix}`, value: median(listing), unit: "ms", note: ratio(listing) },
  ];
}

/** Runs a load in a separate process, so that the driver has time for the modest client. */
async function loadElsewhere({ url, token }: Served, options: Load): Promise<void> {
  const program = join(import.meta.dir, "../other-load.ts");
  await Bun.spawn([process.execPath, program, url, token, JSON.stringify(options)], { stderr: "inherit" }).exited;
}

/** Sends one request at a time, with pauses. */
async function modestP99(client: Client, seconds: number): Promise<number> {
  const samples: number[] = [];
  const endMs = performance.now() + seconds * 1_000;
  for (let at = 0; performance.now() < endMs; at++) {
    const startMs = performance.now();
    await client.request("GET", `${collection}/${objectName(at % 100)}`, undefined, { "impersonate-user": "modest" });
    samples.push(performance.now() - startMs);
    await Bun.sleep(pauseMs);
  }
  return percentile(samples, 0.99);
}

function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

import { join } from "node:path";
import { Client } from "../client.ts";
import { collection, objectName, seedDirectory } from "../documents.ts";
import type { Load } from "../load.ts";
import { takeLags } from "../loop-lag.ts";
import { type Latency, modestLatency } from "../modest-client.ts";
import { type Served, serve, temporaryDirectory } from "../process.ts";
import { type Figure, type Options, percentile } from "../report.ts";

const objects = 10_000;
const greedyConnections = 20;
const greedyStreams = 50;
const listers = 64;
const settleMs = 500;
const rounds = 3;

/**
 * W17: the latency of a modest client's GETs, alone and beside greedy clients of other users, with and without fairness;
 * in wall time, and in CPU time of the server. Also the turns of the event loop beside full lists.
 */
export async function fairness({ seconds, scale }: Options): Promise<Figure[]> {
  await using directory = await temporaryDirectory();
  await seedDirectory(directory.path, Math.round(objects * scale));
  const figures: Figure[] = [];
  for (const isFair of [true, false]) {
    const options = JSON.stringify({ enablePriorityAndFairness: isFair, authorizationMode: ["AlwaysAllow"] });
    await using served = await serve("metered", directory.path, options);
    figures.push(...(await besides(served, seconds, isFair ? "" : ", without fairness")));
  }
  return figures;
}

async function besides(served: Served, seconds: number, suffix: string): Promise<Figure[]> {
  const { lagUrl = "" } = served;
  using client = new Client(served);
  await modestLatency(client, served, seconds);
  const quiet: Latency[] = [];
  const beside: Latency[] = [];
  const listing: Latency[] = [];
  const lags: number[] = [];
  const greedy = { headers: { "impersonate-user": "greedy" }, seconds: seconds + (2 * settleMs) / 1_000 };
  // In turns, so that a busy moment of the machine affects both sides.
  for (let round = 0; round < rounds; round++) {
    quiet.push(await modestLatency(client, served, seconds));
    const gets = loadElsewhere(served, {
      ...greedy,
      connections: greedyConnections,
      streams: greedyStreams,
      paths: [`${collection}/${objectName(1)}`],
    });
    await Bun.sleep(settleMs);
    beside.push(await modestLatency(client, served, seconds));
    await gets;
    const lists = loadElsewhere(served, { ...greedy, connections: listers, streams: 1, paths: [collection] });
    await Bun.sleep(settleMs);
    await takeLags(lagUrl);
    listing.push(await modestLatency(client, served, seconds));
    lags.push(...(await takeLags(lagUrl)));
    await lists;
  }
  const clients = greedyConnections * greedyStreams;
  return [
    ...latencyFigures(`p99 of a modest client, quiet${suffix}`, quiet, quiet),
    ...latencyFigures(`beside ${clients} greedy clients${suffix}`, beside, quiet),
    ...latencyFigures(`beside ${listers} full lists${suffix}`, listing, quiet),
    { name: `turns beside ${listers} full lists, p99${suffix}`, value: percentile(lags, 0.99), unit: "CPU ms" },
  ];
}

function latencyFigures(name: string, measured: readonly Latency[], quiet: readonly Latency[]): Figure[] {
  return (["wallMs", "cpuMs"] as const).map((field) => {
    const value = median(measured.map((each) => each[field]));
    const note = `${(value / median(quiet.map((each) => each[field]))).toFixed(1)} times quiet`;
    const unit = field === "wallMs" ? "ms" : "CPU ms";
    return { name, value, unit, ...(measured === quiet ? {} : { note }) };
  });
}

/** Runs a load in a separate process, so that the driver has time for the modest client. */
async function loadElsewhere({ url, token }: Served, options: Load): Promise<void> {
  const program = join(import.meta.dir, "../other-load.ts");
  await Bun.spawn([process.execPath, program, url, token, JSON.stringify(options)], { stderr: "inherit" }).exited;
}

function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

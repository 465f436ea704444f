import { join } from "node:path";
import { Client } from "./client.ts";
import { type Served, temporaryDirectory } from "./process.ts";

export interface Load {
  readonly paths: readonly string[];
  readonly connections: number;
  readonly streams: number;
  readonly seconds?: number;
  /** A number of requests, in place of `seconds`. */
  readonly requests?: number;
  readonly headers?: Record<string, string>;
}

export interface LoadResult {
  readonly requestsPerSecond: number;
  /** Total size of the bodies. */
  readonly bytes: number;
  readonly bytesPerSecond: number;
  readonly meanMs: number;
  readonly driver: string;
}

const h2load = Bun.which("h2load");

/** Sends GETs as fast as the server answers, closed loop: `streams` at a time on each of `connections`. */
export function load(served: Pick<Served, "url" | "token">, options: Load): Promise<LoadResult> {
  return h2load === null ? ownLoad(served, options) : h2loadRun(h2load, served, options);
}

async function h2loadRun(program: string, served: Pick<Served, "url" | "token">, options: Load): Promise<LoadResult> {
  const { paths, connections, streams, seconds = 1, requests, headers = {} } = options;
  await using directory = await temporaryDirectory();
  const uris = join(directory.path, "uris");
  await Bun.write(uris, paths.map((path) => `${served.url}${path}\n`).join(""));
  const all = { ...headers, authorization: `Bearer ${served.token}` };
  const flags = Object.entries(all).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  const sizes = ["-c", String(connections), "-m", String(streams)];
  const length = requests === undefined ? ["-D", String(seconds)] : ["-n", String(requests)];
  const child = Bun.spawn([program, ...sizes, ...length, ...flags, "-i", uris], { stdout: "pipe", stderr: "ignore" });
  const text = await new Response(child.stdout).text();
  const done = /requests: \d+ total, \d+ started, (\d+) done, (\d+) succeeded, (\d+) failed/.exec(text);
  const bytes = /space savings [\d.]+%\), \S+ \((\d+)\) data/.exec(text);
  const mean = /time for request:\s+\S+\s+\S+\s+(\S+)/.exec(text);
  if (done === null || bytes === null || mean === null || done[2] === "0") throw new Error(`h2load failed:\n${text}`);
  return {
    requestsPerSecond: Number(done[2]) / seconds,
    bytes: Number(bytes[1]),
    bytesPerSecond: Number(bytes[1]) / seconds,
    meanMs: milliseconds(mean[1] as string),
    driver: "h2load",
  };
}

function milliseconds(text: string): number {
  const value = Number.parseFloat(text);
  return text.endsWith("us") ? value / 1_000 : text.endsWith("ms") ? value : value * 1_000;
}

async function ownLoad(served: Pick<Served, "url" | "token">, options: Load): Promise<LoadResult> {
  const { paths, connections, streams, seconds = 1, headers } = options;
  const requestsMax = options.requests ?? Number.POSITIVE_INFINITY;
  const clients = Array.from({ length: connections }, () => new Client(served));
  const endMs = performance.now() + (options.requests === undefined ? seconds * 1_000 : Number.POSITIVE_INFINITY);
  let requests = 0;
  let started = 0;
  let bytes = 0;
  let busyMs = 0;
  const drive = async (client: Client, start: number) => {
    for (let at = start; performance.now() < endMs && started < requestsMax; at++) {
      started++;
      const beganMs = performance.now();
      const path = paths[at % paths.length] as string;
      await new Promise<void>((resolve) => {
        const stream = client.open("GET", path, undefined, headers);
        stream.on("data", (chunk: Buffer) => (bytes += chunk.byteLength));
        stream.once("close", resolve);
      });
      requests++;
      busyMs += performance.now() - beganMs;
    }
  };
  await Promise.all(
    clients.flatMap((client, number) =>
      Array.from({ length: streams }, (_, stream) => drive(client, (number * streams + stream) * 7919)),
    ),
  );
  for (const client of clients) client[Symbol.dispose]();
  return {
    requestsPerSecond: requests / seconds,
    bytes,
    bytesPerSecond: bytes / seconds,
    meanMs: busyMs / Math.max(1, requests),
    driver: "own",
  };
}

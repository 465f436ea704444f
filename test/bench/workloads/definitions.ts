import { Client } from "../client.ts";
import { benchKind, definitionOf } from "../custom-kinds.ts";
import { cpuSeconds, residentBytes, type Served, serve, temporaryDirectory } from "../process.ts";
import { type Figure, type Options, percentile } from "../report.ts";

const definitions = 500;
const warmUp = 50;
/** Interval of new definitions: 50 per second. */
const intervalMs = 20;
const pollMs = 1;
const settleMs = 3_000;
const collection = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const discovery = { accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" };

/** W10: the time until new kinds are served, the cost of each, and the documents about all of them. */
export async function customDefinitions({ scale }: Options): Promise<Figure[]> {
  await using directory = await temporaryDirectory();
  await using served = await serve("server", directory.path, JSON.stringify({ inMemory: true }));
  using client = new Client(served);
  for (let number = 0; number < warmUp; number++) await define(client, `warm${number}`, number);
  await readDocuments(client, served);
  await Bun.sleep(settleMs);

  const count = Math.round(definitions * scale);
  const before = { cpu: cpuSeconds(served.pid), bytes: residentBytes(served.pid) };
  const waits: number[] = [];
  const pending: Promise<void>[] = [];
  const startMs = performance.now();
  for (let number = 0; number < count; number++) {
    await Bun.sleep(Math.max(0, startMs + number * intervalMs - performance.now()));
    pending.push(define(client, `widget${number}`, number).then((waitMs) => void waits.push(waitMs)));
  }
  await Promise.all(pending);
  const documents = await readDocuments(client, served);
  await Bun.sleep(settleMs);
  const cpu = cpuSeconds(served.pid) - before.cpu;
  const bytes = residentBytes(served.pid) - before.bytes;
  return [
    { name: "time until a kind is served, median", value: percentile(waits, 0.5), unit: "ms" },
    { name: "p99", value: percentile(waits, 0.99), unit: "ms" },
    { name: "CPU per definition", value: (1e3 * cpu) / count, unit: "ms", note: "with the documents below" },
    { name: "memory per definition", value: bytes / count / 1024, unit: "KiB", note: "the same" },
    ...documents,
  ];
}

/** @returns the time from the answer to the creation until the kind is served */
async function define(client: Client, name: string, number: number): Promise<number> {
  const kind = benchKind(name, number);
  await client.expect("POST", collection, JSON.stringify(definitionOf(kind)));
  const createdMs = performance.now();
  while ((await client.request("GET", `/apis/${kind.group}/v1/${kind.plural}`)).code !== 200) await Bun.sleep(pollMs);
  return performance.now() - createdMs;
}

/**
 * Reads the discovery of all groups and the OpenAPI documents, and measures another client's slowest answer meanwhile.
 */
async function readDocuments(client: Client, served: Served): Promise<Figure[]> {
  const figures: Figure[] = [];
  const paths = [
    ["discovery of all groups", "/apis", discovery],
    ["OpenAPI v3 of one group", "/openapi/v3/apis/g1.example.com/v1", {}],
    ["OpenAPI v2", "/openapi/v2", {}],
  ] as const;
  using other = new Client(served);
  for (const [name, path, headers] of paths) {
    const cpu = cpuSeconds(served.pid);
    const startMs = performance.now();
    let longestMs = 0;
    let isDone = false;
    const body = client.expect("GET", path, undefined, headers).finally(() => (isDone = true));
    while (!isDone) {
      const askedMs = performance.now();
      await other.expect("GET", "/livez");
      longestMs = Math.max(longestMs, performance.now() - askedMs);
    }
    const { byteLength } = await body;
    const spentMs = (1e3 * (cpuSeconds(served.pid) - cpu)).toFixed(0);
    const note = `${(byteLength / 1e6).toFixed(1)} MB, CPU ${spentMs} ms, longest answer to others ${longestMs.toFixed(0)} ms`;
    figures.push({ name, value: performance.now() - startMs, unit: "ms", note });
  }
  return figures;
}

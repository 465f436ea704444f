import { Client } from "../client.ts";
import { cpuSeconds, residentBytes, type Served, serve, temporaryDirectory } from "../process.ts";
import { type Figure, type Options, percentile } from "../report.ts";

const definitions = 500;
const groups = 50;
const warmUp = 50;
/** Interval of new definitions: 50 per second. */
const intervalMs = 20;
const pollMs = 1;
const settleMs = 3_000;
const objects = 20_000;
const collection = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const discovery = { accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" };
/** A definition body of 3 KiB: a schema with 30 described fields. */
const fields = Object.fromEntries(
  Array.from({ length: 30 }, (_, at) => [
    `field${at}`,
    { type: "string", maxLength: 200, description: `The field with the number ${at}, described in a few words.` },
  ]),
);

/**
 * W10: the time until new kinds are served, the cost of each, and the documents about all of them. W9 for their objects.
 */
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
    await memoryPerObject(client, served, Math.round(objects * scale)),
  ];
}

/** @returns the time from the answer to the creation until the kind is served */
async function define(client: Client, name: string, number: number): Promise<number> {
  const group = `g${number % groups}.example.com`;
  const plural = `${name}s`;
  const kind = `K${name}`;
  const openAPIV3Schema = { type: "object", properties: { spec: { type: "object", properties: fields } } };
  const versions = [
    { name: "v1", served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema } },
  ];
  const spec = { group, scope: "Namespaced", names: { plural, kind }, versions };
  const document = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec,
  };
  await client.expect("POST", collection, JSON.stringify(document));
  const createdMs = performance.now();
  while ((await client.request("GET", `/apis/${group}/v1/${plural}`)).code !== 200) await Bun.sleep(pollMs);
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

async function memoryPerObject(client: Client, served: Served, count: number): Promise<Figure> {
  const before = residentBytes(served.pid);
  const path = "/apis/g0.example.com/v1/namespaces/default/widget0s";
  const spec = Object.fromEntries(Object.keys(fields).map((name) => [name, crypto.randomUUID()]));
  let bytes = 0;
  const batch = 64;
  for (let number = 0; number < count; number += batch) {
    const documents = Array.from({ length: Math.min(batch, count - number) }, (_, at) => {
      const metadata = { name: `object-${number + at}` };
      return JSON.stringify({
        apiVersion: "g0.example.com/v1",
        kind: "Kwidget0",
        metadata,
        spec: { ...spec, field0: `${number + at}` },
      });
    });
    bytes = documents[0]?.length ?? 0;
    await Promise.all(documents.map((document) => client.expect("POST", path, document)));
  }
  await Bun.sleep(settleMs);
  const value = (residentBytes(served.pid) - before) / count / 1024;
  return { name: "memory per custom object", value, unit: "KiB", note: `${count} of ${bytes} B, history included` };
}

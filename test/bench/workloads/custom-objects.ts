import type { KubeObject } from "../../../src/api/object-meta.ts";
import { startServer } from "../../../src/index.ts";
import { benchKind, customObject, definitionOf } from "../custom-kinds.ts";
import { namespace } from "../documents.ts";
import { load } from "../load.ts";
import { makeProgram, residentBytes, startProgram, temporaryDirectory } from "../process.ts";
import type { Figure, Options } from "../report.ts";
import { mergeFiles } from "./cold-start.ts";

const objects = 100_000;
const creationsAtOnce = 64;
const settleMs = 3_000;
const kind = benchKind("widget", 0);

/** W9 for custom objects of 2 KiB: memory of each in a server that has loaded them, and after a list of all. */
export async function customObjects({ scale }: Options): Promise<Figure[]> {
  const count = Math.round(objects * scale);
  await using build = await temporaryDirectory();
  const program = await makeProgram(build.path);
  await using empty = await temporaryDirectory();
  await using directory = await temporaryDirectory();
  const storedBytes = await createObjects(directory.path, count);
  await mergeFiles(program, directory.path);
  await using idle = await startProgram([program], empty.path);
  await using served = await startProgram([program], directory.path);
  await Bun.sleep(settleMs);
  const bytesEach = () => (residentBytes(served.pid) - residentBytes(idle.pid)) / count;
  const loaded = bytesEach();
  const path = `/apis/${kind.group}/v1/namespaces/${namespace}/${kind.plural}`;
  const list = await load(served, { paths: [path], connections: 1, streams: 1, requests: 1 });
  await Bun.sleep(settleMs);
  const note = `as GET answers it, of which a client sent ${JSON.stringify(customObject(kind, 0)).length} B`;
  return [
    { name: "objects", value: count, unit: "", note: `list of ${(list.bytes / 1e6).toFixed(0)} MB` },
    { name: "one object", value: storedBytes, unit: "B", note },
    { name: "start to serving", value: served.startMs, unit: "ms" },
    { name: "memory per object, loaded", value: loaded, unit: "B" },
    { name: "memory per object, after a list", value: bytesEach(), unit: "B" },
  ];
}

/** Creates the objects through the API, so that they have managed fields. @returns the size of one */
async function createObjects(directory: string, count: number): Promise<number> {
  const server = await startServer({ dataDir: directory, securePort: 0 });
  const client = server.client();
  const definitions = { group: "apiextensions.k8s.io", version: "v1", resource: "customresourcedefinitions" };
  await client.create(definitions, definitionOf(kind) as unknown as KubeObject);
  const resource = { group: kind.group, version: "v1", resource: kind.plural };
  while (!(await isServed(() => client.list(resource, { namespace })))) await Bun.sleep(1);
  for (let from = 0; from < count; from += creationsAtOnce) {
    const numbers = Array.from({ length: Math.min(creationsAtOnce, count - from) }, (_, at) => from + at);
    await Promise.all(
      numbers.map((number) => client.create(resource, customObject(kind, number) as unknown as KubeObject)),
    );
  }
  const { items } = await client.list(resource, { namespace, limit: 1 });
  await server.close();
  return JSON.stringify(items[0]).length;
}

function isServed(request: () => Promise<unknown>): Promise<boolean> {
  return request().then(
    () => true,
    () => false,
  );
}

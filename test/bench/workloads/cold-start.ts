import { collection, seedDirectory } from "../documents.ts";
import { load } from "../load.ts";
import { makeProgram, residentBytes, startProgram, temporaryDirectory } from "../process.ts";
import type { Figure, Options } from "../report.ts";

const objects = 100_000;
/** Time in which a server does what can wait until it is ready, and releases the memory of its start. */
const settleMs = 5_000;

/** Merges the files of the directory, as in a server that has been running for a while. */
export async function mergeFiles(program: string, directory: string): Promise<void> {
  await using _served = await startProgram([program], directory);
  await Bun.sleep(settleMs);
}

/** W8 and W9: a large data directory, from the start of the process to the end of the first list; memory per object. */
export async function coldStart({ scale }: Options): Promise<Figure[]> {
  const count = Math.round(objects * scale);
  await using directory = await temporaryDirectory();
  await using empty = await temporaryDirectory();
  await seedDirectory(directory.path, count);
  await using build = await temporaryDirectory();
  const program = await makeProgram(build.path);
  await mergeFiles(program, directory.path);
  await using idle = await startProgram([program], empty.path);
  await using served = await startProgram([program], directory.path);
  await Bun.sleep(settleMs);
  const loaded = residentBytes(served.pid) - residentBytes(idle.pid);
  const list = await load(served, { paths: [collection], connections: 1, streams: 1, requests: 1 });
  await Bun.sleep(settleMs);
  const listed = residentBytes(served.pid) - residentBytes(idle.pid);
  return [
    { name: "objects", value: count, unit: "", note: `list of ${(list.bytes / 1e6).toFixed(0)} MB` },
    { name: "start to serving", value: served.startMs, unit: "ms" },
    { name: "start to the end of the first list", value: served.startMs + list.meanMs, unit: "ms" },
    { name: "memory per object, loaded", value: loaded / count, unit: "B" },
    { name: "memory per object, after a list", value: listed / count, unit: "B" },
  ];
}

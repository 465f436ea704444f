import { fdatasyncSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { temporaryDirectory } from "../process.ts";
import type { Figure } from "../report.ts";

const runMs = 500;
const copyBytes = 16 * 1024 * 1024;
const recordBytes = 2_300;

/** Measures the disk and the memory of this machine. */
export async function machineCeilings(): Promise<Figure[]> {
  await using directory = await temporaryDirectory();
  const file = await open(join(directory.path, "log"), "w");
  const record = Buffer.alloc(recordBytes, 1);
  const syncs = perSecond(() => {
    writeSync(file.fd, record);
    fdatasyncSync(file.fd);
  });
  await file.close();
  const source = Buffer.alloc(copyBytes, 1);
  const target = Buffer.alloc(copyBytes, 2);
  const copies = perSecond(() => void source.copy(target));
  return [
    { name: "fdatasync of 2.3 KB", value: syncs, unit: "/s" },
    { name: "memory copy", value: (copies * copyBytes) / 1e9, unit: "GB/s" },
  ];
}

function perSecond(run: () => void): number {
  const startMs = performance.now();
  let count = 0;
  while (performance.now() - startMs < runMs) {
    run();
    count++;
  }
  return (1_000 * count) / (performance.now() - startMs);
}

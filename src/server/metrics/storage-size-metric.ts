import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Registry } from "prom-client";
import { firstDatabase } from "../../storage/mvcc/identity.ts";
import { CollectedFamily } from "./bound-metric.ts";

/** The name of the store on upstream's dashboards: that of its first one. */
const clusterId = "etcd-0";

/** Registers the size of the database on disk. There are two databases while a snapshot replaces one. */
export function exposeStorageSize(registry: Registry, dataDir: string): void {
  new CollectedFamily("apiserver_storage_size_bytes", "Size of the database on disk.", "gauge", () => {
    const databases = readdirSync(dataDir).filter((name) => name.startsWith(firstDatabase));
    const bytes = databases.reduce((sum, name) => sum + sizeOf(join(dataDir, name)), 0);
    return [[{ storage_cluster_id: clusterId }, bytes]];
  }).register(registry);
}

function sizeOf(directory: string): number {
  let bytes = 0;
  for (const name of filesOf(directory)) {
    bytes += statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0;
  }
  return bytes;
}

/** Returns no files for a database that was just removed. */
function filesOf(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

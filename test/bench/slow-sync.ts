import fs from "node:fs";

/**
 * Loaded before the program: every sync of the log takes `QUORATE_BENCH_SYNC_MS` longer, as on a disk that does not
 * acknowledge from a cache. What LevelDB does is as fast as it was, for nobody waits for it.
 */
const addedMs = Number(process.env["QUORATE_BENCH_SYNC_MS"]);
const sync = fs.fdatasync;
fs.fdatasync = ((descriptor: number, done: (error: Error | null) => void) =>
  sync(descriptor, (error) => void setTimeout(done, addedMs, error))) as typeof fs.fdatasync;

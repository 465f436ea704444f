import fs from "node:fs";

/**
 * Loaded before the program. Every sync of the log takes `QUORATE_BENCH_SYNC_MS` longer, as on a disk that does not
 * acknowledge from a cache. LevelDB is not slowed, because nothing waits for it.
 */
const addedMs = Number(process.env["QUORATE_BENCH_SYNC_MS"]);
const sync = fs.fdatasync;
fs.fdatasync = ((descriptor: number, done: (error: Error | null) => void) =>
  sync(descriptor, (error) => void setTimeout(done, addedMs, error))) as typeof fs.fdatasync;

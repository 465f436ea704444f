/**
 * Loaded before the sources. Every sync of the log takes `QUORATE_BENCH_SYNC_MS` longer, as on a disk that does not
 * acknowledge from a cache. LevelDB is not slowed, because nothing waits for it.
 */
const syncLine = "fs.fdatasync(this.#descriptor, (error) => (error ? reject(error) : resolve()));";
const slowLine = `fs.fdatasync(this.#descriptor, (error) =>
  void setTimeout(error ? reject : resolve, Number(process.env["QUORATE_BENCH_SYNC_MS"]), error));`;

Bun.plugin({
  name: "slow-sync",
  setup(build) {
    build.onLoad({ filter: /raft[/\\]storage[/\\]system-disk\.ts$/ }, async ({ path }) => {
      const text = await Bun.file(path).text();
      if (!text.includes(syncLine)) throw new Error("the code that syncs the log has changed");
      return { contents: text.replace(syncLine, slowLine), loader: "ts" };
    });
  },
});

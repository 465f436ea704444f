/** Loaded before everything else in a server whose log is never to be synced: changes the file that does it as it is read. */
const sync = "fs.fdatasync(this.#descriptor, (error) => (error ? reject(error) : resolve()));";

Bun.plugin({
  name: "no-sync",
  setup(build) {
    build.onLoad({ filter: /raft[/\\]storage[/\\]system-disk\.ts$/ }, async ({ path }) => {
      const text = await Bun.file(path).text();
      if (!text.includes(sync)) throw new Error("the log is synced in another way now");
      return { contents: text.replace(sync, "void reject, resolve();"), loader: "ts" };
    });
  },
});

import { join } from "node:path";
import type { BunPlugin } from "bun";

/**
 * `bun scripts/build.ts [out-dir]` writes the program as one file with its bytecode, `dist/quorate.js` by default: it
 * starts in half the time that the sources take. LevelDB's binding stays outside, in node_modules. libp2p is a file of its
 * own, `libp2p-network.js`, that only a member of a cluster loads: within the program it would cost every start 8 ms and
 * 7 MB.
 */
const root = join(import.meta.dir, "..");
const [outdir = join(root, "dist")] = process.argv.slice(2);

const libp2pApart: BunPlugin = {
  name: "libp2p-apart",
  setup(build) {
    build.onResolve({ filter: /\/libp2p-network\.ts$/ }, () => ({ path: "./libp2p-network.js", external: true }));
  },
};

await bundle("src/main.ts", { naming: "quorate.js", plugins: [libp2pApart] });
// libp2p takes an undefined `this` for granted, which modules have and a bundle has only when it is told to be strict.
await bundle("src/cluster/gossip/libp2p-network.ts", { naming: "libp2p-network.js", banner: '"use strict";' });

async function bundle(entry: string, options: Partial<Bun.BuildConfig>): Promise<void> {
  const built = await Bun.build({
    entrypoints: [join(root, entry)],
    outdir,
    target: "bun",
    format: "cjs",
    bytecode: true,
    external: ["classic-level"],
    ...options,
  } as Bun.BuildConfig);
  for (const log of built.logs) console.error(String(log));
  if (!built.success) process.exit(1);
}

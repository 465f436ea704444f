import { join } from "node:path";
import type { BunPlugin } from "bun";

/**
 * `bun scripts/build.ts [out-dir]` writes the program as one file with its bytecode, `dist/quorate.js` by default. It
 * starts in half the time of the sources. LevelDB's binding stays outside, in node_modules. libp2p goes to a separate
 * file, `libp2p-network.js`, which only a member of a cluster loads. Inside the program it would cost every start 8 ms
 * and 7 MB.
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
// libp2p relies on an undefined `this`. Modules have that, but a bundle has it only in strict mode.
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

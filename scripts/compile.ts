import { join } from "node:path";
import { parseArgs } from "node:util";
import type { BunPlugin } from "bun";

/**
 * `bun scripts/compile.ts [--outdir=<dir>] [target…]` writes single executables: the program, Bun and LevelDB's binding in one file.
 * Without a target it writes `dist/quorate` for this machine, and `dist/quorate-<target>` for each target otherwise.
 */
const root = join(import.meta.dir, "..");
const prebuilds = join(root, "node_modules/classic-level/prebuilds");

/** LevelDB's binding, by Bun's name of the platform. */
const bindings: Readonly<Record<string, string>> = {
  "linux-x64": "linux-x64/classic-level.node",
  "linux-x64-musl": "linux-x64/classic-level.musl.node",
  "linux-arm64": "linux-arm64/classic-level.armv8.node",
  "darwin-x64": "darwin-x64+arm64/classic-level.node",
  "darwin-arm64": "darwin-x64+arm64/classic-level.node",
  "windows-x64": "win32-x64/classic-level.node",
};

/** Only a member of a cluster loads libp2p. Inside the program it would cost every start time and memory. */
const libp2pApart: BunPlugin = {
  name: "libp2p-apart",
  setup(build) {
    build.onResolve({ filter: /\/libp2p-network\.ts$/ }, ({ kind }) =>
      kind === "dynamic-import" ? { path: "./libp2p-network.js", external: true } : undefined,
    );
  },
};

const { values, positionals: targets } = parseArgs({
  args: process.argv.slice(2),
  options: { outdir: { type: "string", default: join(root, "dist") } },
  allowPositionals: true,
});
const unknown = targets.find((target) => !(target in bindings));
if (unknown !== undefined) {
  console.error(`unknown target ${unknown}: choose from ${Object.keys(bindings).join(", ")}`);
  process.exit(1);
}
if (targets.length === 0) await compile(thisPlatform(), "quorate");
for (const target of targets) await compile(target, `quorate-${target}`);

async function compile(target: string, name: string): Promise<void> {
  const libp2p = join(root, "src/cluster/gossip/libp2p-network.ts");
  const built = await Bun.build({
    entrypoints: [join(root, "src/main.ts"), libp2p],
    // The second entry point lies beside the program in the executable's own file system.
    root: join(libp2p, ".."),
    target: "bun",
    // libp2p relies on an undefined `this`, which only modules have.
    format: "esm",
    bytecode: true,
    plugins: [libp2pApart, withBinding(join(prebuilds, bindings[target] ?? ""))],
    compile: {
      target: `bun-${target}`,
      outfile: join(values.outdir, name),
      autoloadDotenv: false,
      autoloadBunfig: false,
    } as Bun.CompileBuildOptions,
  });
  for (const log of built.logs) console.error(String(log));
  if (!built.success) process.exit(1);
}

/** Embeds the binding in the executable, in place of the search for it in node_modules. */
function withBinding(file: string): BunPlugin {
  return {
    name: "with-binding",
    setup(build) {
      build.onLoad({ filter: /[\\/]classic-level[\\/]binding\.js$/ }, () => ({
        contents: `module.exports = require(${JSON.stringify(file)});`,
        loader: "js",
      }));
    },
  };
}

/** Returns Bun's name of this platform. */
function thisPlatform(): string {
  const { platform, arch, report } = process;
  const { header } = report.getReport() as unknown as { header: { glibcVersionRuntime?: string } };
  const isMusl = platform === "linux" && header.glibcVersionRuntime === undefined;
  return `${platform === "win32" ? "windows" : platform}-${arch}${isMusl ? "-musl" : ""}`;
}

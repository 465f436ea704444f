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
// Without a target, the executable contains the Bun that compiles it, which fits this machine's processor.
if (targets.length === 0) await compile(thisPlatform(), { outfile: join(values.outdir, "quorate") });
for (const target of targets) {
  const outfile = join(values.outdir, `quorate-${target}`);
  await compile(target, { outfile, target: `bun-${target}` as Bun.Build.CompileTarget });
}

async function compile(platform: string, output: Bun.CompileBuildOptions): Promise<void> {
  const built = await Bun.build({
    entrypoints: [join(root, "src/main.ts")],
    target: "bun",
    format: "esm",
    // Modules that are imported late stay apart: only a member of a cluster loads libp2p.
    splitting: true,
    bytecode: true,
    plugins: [withParsedData(), withBinding(join(prebuilds, bindings[platform] ?? ""))],
    compile: { ...output, autoloadDotenv: false, autoloadBunfig: false },
  });
  for (const log of built.logs) console.error(String(log));
  if (!built.success) process.exit(1);
}

/**
 * Embeds the generated data as text that JSON.parse reads. As an object literal, the largest file alone takes 9 ms of each
 * start instead of 1 ms.
 */
function withParsedData(): BunPlugin {
  return {
    name: "with-parsed-data",
    setup(build) {
      build.onLoad({ filter: /[\\/]scheme[\\/]generated[\\/][^\\/]+\.json$/ }, async ({ path }) => {
        const text = JSON.stringify(await Bun.file(path).json());
        return { contents: `export default JSON.parse(${JSON.stringify(text)});`, loader: "js" };
      });
    },
  };
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

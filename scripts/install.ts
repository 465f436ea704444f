import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

/**
 * `bun scripts/install.ts <dir>` writes the program in a form that runs without Node.js and npm: `bin/quorate`, the
 * scripts that services start and, in `lib/`, the built program, this Bun and LevelDB's binding for this machine.
 */
const root = join(import.meta.dir, "..");
const [directory] = process.argv.slice(2);
if (directory === undefined) {
  console.error("usage: bun scripts/install.ts <dir>");
  process.exit(1);
}
const lib = join(directory, "lib");
const bin = join(directory, "bin");
mkdirSync(lib, { recursive: true });
mkdirSync(bin, { recursive: true });

const built = Bun.spawnSync([process.execPath, join(root, "scripts/build.ts"), lib], { stderr: "inherit" });
if (!built.success) process.exit(1);
copyFileSync(process.execPath, join(lib, "bun"));
chmodSync(join(lib, "bun"), 0o755);
copyFileSync(join(root, "bin/bunfig.toml"), join(lib, "bunfig.toml"));
for (const name of withDependencies("classic-level")) copyPackage(name);

writeExecutable(
  "quorate",
  // The working directory's .env and bunfig.toml must not affect the program.
  `#!/bin/sh
lib=$(dirname "$(readlink -f "$0")")/../lib
exec "$lib/bun" --no-install --no-env-file --config="$lib/bunfig.toml" "$lib/quorate.js" "$@"
`,
);
for (const name of ["quorate-start", "quorate-invite"]) {
  writeExecutable(name, readFileSync(join(root, "deploy", name), "utf8"));
}

function writeExecutable(name: string, text: string): void {
  writeFileSync(join(bin, name), text);
  chmodSync(join(bin, name), 0o755);
}

function packageDirectory(name: string): string {
  return join(root, "node_modules", name);
}

/** Returns the package and its dependencies, all of which lie directly in node_modules. */
function withDependencies(name: string, found: Set<string> = new Set()): Set<string> {
  if (found.has(name)) return found;
  if (existsSync(join(packageDirectory(name), "node_modules"))) throw new Error(`${name} has packages of its own`);
  found.add(name);
  const { dependencies = {} } = JSON.parse(readFileSync(join(packageDirectory(name), "package.json"), "utf8")) as {
    dependencies?: Record<string, string>;
  };
  for (const dependency of Object.keys(dependencies)) withDependencies(dependency, found);
  return found;
}

/** Copies a package without C++ sources and builds for other machines. */
function copyPackage(name: string): void {
  const prebuilds = join(packageDirectory(name), "prebuilds");
  cpSync(packageDirectory(name), join(lib, "node_modules", name), {
    recursive: true,
    filter: (path) =>
      path !== join(packageDirectory(name), "deps") &&
      !(path.startsWith(`${prebuilds}/`) && !path.includes(`/${process.platform}-`)) &&
      !basename(path).endsWith(".md"),
  });
}

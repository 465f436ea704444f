import { chmodSync, copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";

/**
 * `bun scripts/install.ts <dir>` writes the executable and the scripts that services start to `<dir>/bin`. They run
 * without Node.js and npm.
 */
const root = join(import.meta.dir, "..");
const [directory] = process.argv.slice(2);
if (directory === undefined) {
  console.error("usage: bun scripts/install.ts <dir>");
  process.exit(1);
}
const bin = join(directory, "bin");
mkdirSync(bin, { recursive: true });

const compile = [process.execPath, join(root, "scripts/compile.ts"), `--outdir=${bin}`];
if (!Bun.spawnSync(compile, { stderr: "inherit" }).success) process.exit(1);

for (const name of ["quorate-start", "quorate-invite"]) {
  copyFileSync(join(root, "deploy", name), join(bin, name));
  chmodSync(join(bin, name), 0o755);
}

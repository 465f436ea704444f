/**
 * `node scripts/start.mjs <command> [flags]` builds the program with the pinned Bun and runs it, with nothing installed but
 * Node.js and npm. It installs and builds only where something has changed since the last time. Signals go to the program, which
 * takes this process's place as far as its caller can tell.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { runChild } from "../bin/run-child.mjs";

const root = join(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "..");
const stampFile = join(root, "dist", "stamp.json");
const program = join(root, "dist", process.platform === "win32" ? "quorate.exe" : "quorate");
const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const args = process.argv.slice(2);

if (args[0] === "up") await requireFreePort();
prepare();
runChild(program, args);

/** Installs and builds what is not up to date. */
function prepare() {
  const stamp = readStamp();
  const packages = hashOf(["package.json", "bun.lock"].map((file) => readFileSync(join(root, file))));
  const sources = hashOf([packages, ...["src", "raft", "scripts"].flatMap(filesIn)]);
  const bun = existsSync(stamp.bun ?? "") ? stamp.bun : findBun();
  if (stamp.packages !== packages || !existsSync(join(root, "node_modules"))) step(bun, "install", "--frozen-lockfile");
  if (stamp.sources !== sources || !existsSync(program)) step(bun, join(root, "scripts", "compile.ts"));
  mkdirSync(join(root, "dist"), { recursive: true });
  writeFileSync(stampFile, JSON.stringify({ bun, packages, sources }));
}

function readStamp() {
  try {
    return JSON.parse(readFileSync(stampFile, "utf8"));
  } catch {
    return {};
  }
}

function hashOf(parts) {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part).update("\n");
  return hash.digest("hex");
}

/** Returns a line for each file of a directory that changes with the file. */
function filesIn(directory) {
  return readdirSync(join(root, directory), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort()
    .map((path) => {
      const { size, mtimeMs } = statSync(path);
      return `${path} ${size} ${mtimeMs}`;
    });
}

/** Lets npm fetch Bun, if it has not yet, and asks Bun where it is: npm would not pass signals on. */
function findBun() {
  const asked = spawnSync("npx", ["-y", packageManager, "-e", "console.log(process.execPath)"], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  const path = (asked.stdout ?? "").trim();
  if (asked.status !== 0 || path === "") fail(`npm could not fetch ${packageManager}: check the network`);
  return path;
}

function step(bun, ...words) {
  const { status } = spawnSync(bun, words, { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

/** Reports a port in use before minutes are spent on installing. The program checks again, and every other address. */
async function requireFreePort() {
  if (args.some((arg) => arg.startsWith("--peer-address"))) return;
  const port = Number(flag("secure-port") ?? 6443);
  const host = flag("bind-address") ?? "127.0.0.1";
  if (!Number.isInteger(port) || port <= 0 || port > 65_535) return;
  const server = createServer();
  const code = await new Promise((resolve) => {
    server.once("error", (error) => resolve(error.code));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
  if (code !== "EADDRINUSE") return;
  fail(`cannot start: port ${port} of ${host} is in use: stop the other process or choose another --secure-port`);
}

function flag(name) {
  const at = args.findLastIndex((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`));
  if (at < 0) return undefined;
  return args[at].includes("=") ? args[at].slice(args[at].indexOf("=") + 1) : args[at + 1];
}

function fail(text) {
  console.error(`quorate: ${text}`);
  process.exit(1);
}

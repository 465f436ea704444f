#!/usr/bin/env node
/**
 * Runs quorate on the Bun that is installed with it, so that the command works with Node.js and npm alone. The working
 * directory belongs to the user: its .env and bunfig.toml are not read.
 */
import { statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runChild } from "./run-child.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const require = createRequire(import.meta.url);

/** Smaller files stand for a program that was not installed. */
const programBytesMin = 1_000_000;

const parentPollMs = 200;

const bun = findBun();
if (bun === undefined) {
  console.error(
    `quorate: Bun is not installed for ${process.platform} ${process.arch}: install quorate again, with optional dependencies`,
  );
  process.exit(1);
}
const flags = ["--no-install", "--no-env-file", `--config=${join(here, "bunfig.toml")}`];
const child = runChild(bun, [...flags, join(here, "../src/main.ts"), ...process.argv.slice(2)]);
if (process.env["npm_command"] === "exec") stopWithParent();

/** Stops the program when npx is stopped: npx passes signals to its shell only, which does not pass them on. */
function stopWithParent() {
  const { ppid } = process;
  const timer = setInterval(() => {
    if (process.ppid === ppid) return;
    clearInterval(timer);
    child.kill("SIGTERM");
  }, parentPollMs);
  timer.unref();
}

/**
 * Returns the path of Bun. The install script of the package `bun` moves the program there out of the platform's own
 * package. Where npm may not run install scripts, it is still in the latter.
 */
function findBun() {
  const name = `bun-${process.platform === "win32" ? "windows" : process.platform}-${process.arch === "arm64" ? "aarch64" : process.arch}`;
  const program = process.platform === "win32" ? "bun.exe" : "bun";
  const installer = resolved("bun/package.json", require);
  if (installer === undefined) return undefined;
  const platform = resolved(`@oven/${name}${usesMusl() ? "-musl" : ""}/package.json`, createRequire(installer));
  const programs = [join(dirname(installer), "bin/bun.exe")];
  if (platform !== undefined) programs.push(join(dirname(platform), "bin", program));
  return programs.find((path) => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > programBytesMin);
}

function usesMusl() {
  return process.platform === "linux" && process.report.getReport().header.glibcVersionRuntime === undefined;
}

function resolved(name, from) {
  try {
    return from.resolve(name);
  } catch {
    return undefined;
  }
}

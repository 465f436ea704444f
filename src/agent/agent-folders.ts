import { chmod, mkdir } from "node:fs/promises";
import { isAbsolute, relative } from "node:path";
import type { AgentOptions } from "./agent-options.ts";

const ownerOnly = 0o700;
/** Others may pass through, but not list. */
const passable = 0o711;

/**
 * Makes the root directory, and those of its folders that have no maker who keeps them private. Containers of the process
 * runtime may run as other users, and have their working directories below it.
 */
export async function makeAgentFolders({
  rootDirectory,
  logDirectory,
  runtime,
}: Pick<AgentOptions, "rootDirectory" | "logDirectory" | "runtime">): Promise<void> {
  if (isBelow(rootDirectory, logDirectory)) await make(logDirectory, ownerOnly);
  await make(rootDirectory, runtime.kind === "process" ? passable : ownerOnly);
}

async function make(directory: string, mode: number): Promise<void> {
  await mkdir(directory, { recursive: true });
  // The mode of an older directory, or one that the umask has changed.
  await chmod(directory, mode);
}

function isBelow(parent: string, path: string): boolean {
  const way = relative(parent, path);
  return way !== "" && !isAbsolute(way) && way.split("/")[0] !== "..";
}

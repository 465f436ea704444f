import { mkdirSync } from "node:fs";
import { runCommand } from "./run-command.ts";

/** Argument that tells the process that it runs inside. */
export const insideMark = "--inside";

/** A mount point that every Linux has. Mounts on it here are invisible outside. */
const scratch = "/media";
const namespaces = "/run/netns";

/**
 * Runs this program again in its own namespaces for mounts, network and processes, so that everything it creates
 * disappears with it, even after a kill. Returns its exit code.
 */
export async function runInside(program: string, args: readonly string[]): Promise<number> {
  const own = ["--mount", "--net", "--pid", "--fork", "--kill-child=SIGKILL", "--mount-proc"];
  const child = Bun.spawn(["unshare", ...own, process.execPath, program, insideMark, ...args], {
    // The inner process ends when this end is closed, which happens in any case when this process ends.
    stdin: "pipe",
    stdout: "inherit",
    stderr: "inherit",
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.stdin.end());
  return child.exited;
}

/** Prepares the inner process: mounts a working directory in memory and exits together with the outer process. */
export function settleIn(): { readonly directory: string } {
  const leave = () => process.exit(130);
  process.stdin.on("end", leave).on("close", leave).resume();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, leave);
  mkdirSync(namespaces, { recursive: true });
  for (const place of [scratch, namespaces]) runCommand("mount", "-t", "tmpfs", "-o", "mode=755", "chaos", place);
  return { directory: scratch };
}

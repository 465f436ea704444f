import { mkdirSync } from "node:fs";
import { runCommand } from "./run-command.ts";

/** The process that is inside knows by this argument. */
export const insideMark = "--inside";

/** A place that every Linux has; what is mounted on it here is not seen outside. */
const scratch = "/media";
const namespaces = "/run/netns";

/**
 * Runs this program again in namespaces of its own – mounts, network, processes – so that whatever it makes is gone with
 * it, also when it is killed. Gives its exit code.
 */
export async function runInside(program: string, args: readonly string[]): Promise<number> {
  const own = ["--mount", "--net", "--pid", "--fork", "--kill-child=SIGKILL", "--mount-proc"];
  const child = Bun.spawn(["unshare", ...own, process.execPath, program, insideMark, ...args], {
    // It ends when this end is closed, which it is however this process ends.
    stdin: "pipe",
    stdout: "inherit",
    stderr: "inherit",
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.stdin.end());
  return child.exited;
}

/** First thing inside: memory to work in, and the end that comes with the end of the process outside. */
export function settleIn(): { readonly directory: string } {
  const leave = () => process.exit(130);
  process.stdin.on("end", leave).on("close", leave).resume();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, leave);
  mkdirSync(namespaces, { recursive: true });
  for (const place of [scratch, namespaces]) runCommand("mount", "-t", "tmpfs", "-o", "mode=755", "chaos", place);
  return { directory: scratch };
}

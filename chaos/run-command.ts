import { spawnSync } from "node:child_process";

/** Runs a short system command. @throws an error with its output if it fails */
export function runCommand(command: string, ...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: "utf8", stdio: "pipe" });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stderr.trim() || `exit code ${status}`}`);
  return stdout;
}

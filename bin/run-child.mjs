import { spawn } from "node:child_process";
import { constants } from "node:os";

/**
 * Runs a program that takes this process's place, as far as the caller can tell: it has the same terminal, gets the
 * signals, and its exit code becomes this process's.
 * @returns the program's process
 */
export function runChild(program, args) {
  // First of all: a signal must find these, as soon as the program runs.
  for (const signal of ["SIGTERM", "SIGHUP", "SIGUSR2"]) process.on(signal, () => child.kill(signal));
  // A terminal sends it to both processes, and a second one would cut the program's orderly end short.
  process.on("SIGINT", () => process.stdin.isTTY !== true && child.kill("SIGINT"));
  const child = spawn(program, args, { stdio: "inherit" });
  child.on("error", (error) => {
    console.error(`quorate: cannot run ${program}: ${error.message}`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
  return child;
}

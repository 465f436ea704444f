import { abortable } from "../../../process/abortable.ts";
import { type ExecOptions, type ProcessStreams, RuntimeError } from "../runtime.ts";
import { runShell, type ShellWorld } from "./shell/run-shell.ts";

const encoder = new TextEncoder();
/** Longest single wait of a timer. */
const waitMsMax = 2 ** 31 - 1;

/**
 * Runs a command of the simulated shell, and prints what it prints when it would. `cat` alone copies its input.
 * @returns the exit code
 * @throws RuntimeError after the timeout, and the signal's reason when that is aborted
 */
export async function simulatedExec(
  command: readonly string[],
  world: ShellWorld,
  { tty, signal, timeoutSeconds }: ExecOptions,
  streams: ProcessStreams,
): Promise<number> {
  if (command.length === 1 && command[0] === "cat") return await copyInput(streams, signal);
  const { outputs, durationMs, exitCode } = runShell(command, world);
  const timeoutMs = timeoutSeconds === undefined ? Number.POSITIVE_INFINITY : timeoutSeconds * 1_000;
  let elapsedMs = 0;
  const passUntil = async (ms: number) => {
    await wait(Math.min(ms, timeoutMs) - elapsedMs, signal);
    elapsedMs = ms;
    if (ms < timeoutMs) return;
    throw new RuntimeError("DeadlineExceeded", `command timed out after ${timeoutSeconds}s`, "DeadlineExceeded");
  };
  for (const { afterMs, stream, text } of outputs) {
    if (afterMs > elapsedMs) await passUntil(afterMs);
    const write = stream === "stdout" || tty ? streams.stdout : streams.stderr;
    await write?.(encoder.encode(tty ? text.replaceAll("\n", "\r\n") : text));
  }
  if (durationMs > elapsedMs) await passUntil(durationMs);
  return exitCode;
}

async function copyInput({ stdin, stdout }: ProcessStreams, signal: AbortSignal): Promise<number> {
  if (stdin === undefined) return 0;
  for await (const chunk of stdin) {
    signal.throwIfAborted();
    await stdout?.(chunk);
  }
  return 0;
}

/** Waits, without an end for Infinity. @throws the reason of the signal */
async function wait(ms: number, signal: AbortSignal): Promise<void> {
  for (let left = ms; left > 0; left -= waitMsMax) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, Math.min(left, waitMsMax));
    try {
      await abortable(promise, signal);
    } finally {
      clearTimeout(timer);
    }
  }
  signal.throwIfAborted();
}

import { atMost } from "../../../process/at-most.ts";
import type { Clock } from "../../../process/clock.ts";
import { type ExecOptions, type ProcessStreams, RuntimeError } from "../runtime.ts";
import { FeedReader } from "./output-feed.ts";
import { allProcesses, processFamily, signalProcess } from "./process-table.ts";
import { resizeTerminal } from "./resize-terminal.ts";

/** Time that a client has to take the rest of the output after the end of the command. */
const drainMsMax = 30_000;

interface Run {
  readonly pid: number;
  readonly exited: Promise<number>;
  /** Resolves when all output has been handed to the client. */
  readonly drained: Promise<unknown>;
  /** Rejects when the client is gone. */
  readonly failed: Promise<never>;
}

/**
 * Runs a command to its end and returns its exit code. Kills it with all its children when the signal is aborted, the
 * time is over, or the client is gone.
 */
export async function runCommand(
  command: readonly string[],
  environment: Readonly<Record<string, string>>,
  { tty, signal, timeoutSeconds }: ExecOptions,
  streams: ProcessStreams,
  clock: Clock,
): Promise<number> {
  const run = tty ? onTerminal(command, environment, streams) : onPipes(command, environment, streams);
  const interrupted = Promise.withResolvers<never>();
  const interrupt = () => interrupted.reject(signal.reason);
  signal.addEventListener("abort", interrupt, { once: true });
  if (signal.aborted) interrupt();
  using _timer =
    timeoutSeconds === undefined
      ? undefined
      : clock.after(timeoutSeconds * 1_000, () => interrupted.reject(tooLong(timeoutSeconds)));
  try {
    const code = await Promise.race([run.exited, run.failed, interrupted.promise]);
    // Children would hold the output open.
    killFamily(run.pid);
    await Promise.race([atMost(clock, drainMsMax, run.drained), run.failed, interrupted.promise]);
    return code;
  } finally {
    signal.removeEventListener("abort", interrupt);
    killFamily(run.pid);
  }
}

function onPipes(
  command: readonly string[],
  environment: Readonly<Record<string, string>>,
  { stdin, stdout, stderr }: ProcessStreams,
): Run {
  const child = Bun.spawn([...command], {
    cwd: "/",
    env: environment,
    detached: true,
    stdin: stdin === undefined ? "ignore" : "pipe",
    stdout: stdout === undefined ? "ignore" : "pipe",
    stderr: stderr === undefined ? "ignore" : "pipe",
  });
  const failed = Promise.withResolvers<never>();
  const drained = Promise.all([pump(child.stdout, stdout), pump(child.stderr, stderr)]);
  drained.catch(failed.reject);
  if (stdin !== undefined && child.stdin !== undefined) feed(child.stdin, stdin).catch(failed.reject);
  return { pid: child.pid, exited: child.exited, drained, failed: failed.promise };
}

function onTerminal(
  command: readonly string[],
  environment: Readonly<Record<string, string>>,
  streams: ProcessStreams,
): Run {
  const reader = new FeedReader(streams);
  const ended = Promise.withResolvers<void>();
  const options: Bun.TerminalOptions = {
    data: (_terminal, chunk) => reader.take("stdout", Buffer.from(chunk)),
    exit: () => ended.resolve(),
  };
  const child = Bun.spawn([...command], { cwd: "/", env: environment, detached: true, terminal: options });
  const { terminal } = child;
  const failed = Promise.withResolvers<never>();
  if (terminal !== undefined && streams.stdin !== undefined) write(terminal, streams.stdin).catch(failed.reject);
  if (terminal !== undefined && streams.resize !== undefined) void resizeTerminal(terminal, streams.resize);
  const drained = ended.promise.then(() => reader.end());
  reader.ended.catch(failed.reject);
  return { pid: child.pid, exited: child.exited, drained: drained.then(() => reader.ended), failed: failed.promise };
}

async function pump(from: ReadableStream<Uint8Array> | undefined, to: ProcessStreams["stdout"]): Promise<void> {
  if (from === undefined || to === undefined) return;
  for await (const chunk of from) await to(chunk);
}

async function feed(to: Bun.FileSink, from: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const chunk of from) {
      to.write(chunk);
      await to.flush();
    }
    await to.end();
  } catch (error) {
    // A command that has ended or closed its input does not read the rest.
    if ((error as NodeJS.ErrnoException).code !== "EPIPE") throw error;
  }
}

async function write(terminal: Bun.Terminal, from: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of from) {
    if (terminal.closed) return;
    terminal.write(chunk);
  }
}

function killFamily(pid: number): void {
  for (const one of processFamily(allProcesses(), pid)) signalProcess(one, "SIGKILL");
}

function tooLong(seconds: number): RuntimeError {
  return new RuntimeError("ExecError", `command timed out after ${seconds}s`, "DeadlineExceeded");
}

import { closeSync, openSync, readFileSync } from "node:fs";
import type { Subprocess } from "bun";

/** Grace period of a stopping process, before it is killed. */
const stopMsMax = 20_000;

export interface ProcessOptions {
  readonly command: readonly string[];
  /** The file to which the process's output is appended. */
  readonly logFile: string;
}

/** A child process in its own session, so that Ctrl-C does not reach it directly. */
export class LocalProcess {
  readonly #child: Subprocess;
  readonly #logFile: string;
  readonly #logBytesBefore: number;

  constructor({ command, logFile }: ProcessOptions) {
    const log = openSync(logFile, "a", 0o600);
    this.#logFile = logFile;
    this.#logBytesBefore = Bun.file(logFile).size;
    try {
      this.#child = Bun.spawn([...command], { stdin: "ignore", stdout: log, stderr: log, detached: true });
    } finally {
      closeSync(log);
    }
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Resolves when the process has ended in any way. */
  get ended(): Promise<unknown> {
    return this.#child.exited;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Returns how the process ended: `was killed by SIGKILL`, or `ended with code 1: …` with its last line of output. */
  get end(): string {
    const { signalCode, exitCode } = this.#child;
    if (signalCode !== null) return `was killed by ${signalCode}`;
    const last = this.printed().trimEnd().split("\n").at(-1) ?? "";
    return `ended with code ${exitCode}${last === "" ? "" : `: ${last}`}`;
  }

  /** Returns the output of this process since its start. */
  printed(): string {
    return readFileSync(this.#logFile).subarray(this.#logBytesBefore).toString("utf8");
  }

  signal(signal: NodeJS.Signals): void {
    if (this.isRunning) this.#child.kill(signal);
  }

  /** Stops the process. Returns false if it had to be killed. */
  async stop(): Promise<boolean> {
    this.signal("SIGTERM");
    const timer = setTimeout(() => this.signal("SIGKILL"), stopMsMax);
    await this.ended;
    clearTimeout(timer);
    return this.#child.signalCode !== "SIGKILL";
  }
}

/** Stops the watched processes when this one ends, even by SIGKILL: the guard then reads the end of its pipe. */
export class ProcessGuard implements Disposable {
  readonly #child = Bun.spawn(["sh", "-c", 'while read -r line; do pids=$line; done; [ -z "$pids" ] || kill $pids'], {
    stdin: "pipe",
    stdout: "ignore",
    stderr: "ignore",
    detached: true,
  });

  /** Replaces the list of watched processes. */
  watch(pids: readonly number[]): void {
    this.#child.stdin.write(`${pids.join(" ")}\n`);
    void this.#child.stdin.flush();
  }

  [Symbol.dispose](): void {
    this.watch([]);
    void this.#child.stdin.end();
  }
}

import { closeSync, openSync, readFileSync } from "node:fs";
import type { Subprocess } from "bun";

/** One that does not end when it is told to is killed. */
const stopMsMax = 20_000;

export interface ProcessOptions {
  readonly command: readonly string[];
  /** Grows by what the process prints. */
  readonly logFile: string;
}

/** A process of ours, in a session of its own: an interrupt of the terminal reaches it through us only. */
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

  /** Resolves when the process has ended, however it did. */
  get ended(): Promise<unknown> {
    return this.#child.exited;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** `was killed by SIGKILL`, `ended with code 1: …` with the last line that it printed. */
  get end(): string {
    const { signalCode, exitCode } = this.#child;
    if (signalCode !== null) return `was killed by ${signalCode}`;
    const last = this.printed().trimEnd().split("\n").at(-1) ?? "";
    return `ended with code ${exitCode}${last === "" ? "" : `: ${last}`}`;
  }

  /** Everything that this process has printed. */
  printed(): string {
    return readFileSync(this.#logFile).subarray(this.#logBytesBefore).toString("utf8");
  }

  signal(signal: NodeJS.Signals): void {
    if (this.isRunning) this.#child.kill(signal);
  }

  /** @returns false when it had to be killed */
  async stop(): Promise<boolean> {
    this.signal("SIGTERM");
    const timer = setTimeout(() => this.signal("SIGKILL"), stopMsMax);
    await this.ended;
    clearTimeout(timer);
    return this.#child.signalCode !== "SIGKILL";
  }
}

/** Tells processes to stop when this one is gone, also when it was killed: it hears of it by the end of a pipe. */
export class ProcessGuard implements Disposable {
  readonly #child = Bun.spawn(["sh", "-c", 'while read -r line; do pids=$line; done; [ -z "$pids" ] || kill $pids'], {
    stdin: "pipe",
    stdout: "ignore",
    stderr: "ignore",
    detached: true,
  });

  /** These, and no others. */
  watch(pids: readonly number[]): void {
    this.#child.stdin.write(`${pids.join(" ")}\n`);
    void this.#child.stdin.flush();
  }

  [Symbol.dispose](): void {
    this.watch([]);
    void this.#child.stdin.end();
  }
}

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { faketimeLibrary } from "../requirements.ts";
import type { Launch } from "./launch.ts";
import type { MemberDisk } from "./member-disk.ts";

export interface MemberOptions {
  /** Its port at the switch. */
  readonly number: number;
  readonly name: string;
  /** The host of its API. */
  readonly host: string;
  readonly namespace: string;
  readonly disk: MemberDisk;
  readonly launch: Launch;
  /** Command of its starts, unless a start names another one. */
  readonly command: readonly string[];
  /** Flags of every start. */
  readonly flags: readonly string[];
  /** File for its output. */
  readonly logFile: string;
  /** File with the offset of its clock, if faults move clocks. */
  readonly clockFile: string | undefined;
}

export const apiPort = 6443;
export const peerPort = 7380;

const endMsMax = 20_000;

/**
 * A replica or a member of its etcd: its process, started and ended as often as a run needs, on its own disk and in its
 * own network.
 */
export class Member {
  readonly #options: MemberOptions;
  #process: Bun.Subprocess<"ignore", number, number> | undefined;
  #isWanted = false;
  #deaths = 0;

  constructor(options: MemberOptions) {
    this.#options = options;
  }

  get number(): number {
    return this.#options.number;
  }

  get name(): string {
    return this.#options.name;
  }

  get host(): string {
    return this.#options.host;
  }

  get disk(): MemberDisk {
    return this.#options.disk;
  }

  get dataDirectory(): string {
    return join(this.disk.directory, "data");
  }

  /** Process id, if it runs. */
  get pid(): number | undefined {
    return this.isRunning ? this.#process?.pid : undefined;
  }

  get isRunning(): boolean {
    return this.#process !== undefined && this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** How often its process ended by itself. */
  get deaths(): number {
    return this.#deaths;
  }

  /**
   * Starts the process if it does not run, without waiting until it serves.
   * @param command the command by which it becomes a member at its first start
   */
  async start(command: readonly string[] = this.#options.command): Promise<void> {
    if (this.isRunning) return;
    const { namespace, launch, flags, clockFile, logFile } = this.#options;
    const log = await open(logFile, "a");
    try {
      this.#isWanted = true;
      const child: Bun.Subprocess<"ignore", number, number> = Bun.spawn(
        ["nsenter", `--net=/run/netns/${namespace}`, "--", ...launch.command, ...command, ...flags],
        {
          stdin: "ignore",
          stdout: log.fd,
          stderr: log.fd,
          env: { ...process.env, ...launch.environment, ...clockEnvironment(clockFile) },
          onExit: () => this.#ended(child),
        },
      );
      this.#process = child;
    } finally {
      await log.close();
    }
  }

  /** Returns the process ids of its serving processes, which it replaces when they end. */
  servingPids(): number[] {
    const { pid } = this;
    if (pid === undefined) return [];
    const { stdout } = Bun.spawnSync(["ps", "-o", "pid=", "--ppid", String(pid)]);
    return stdout.toString().split("\n").map(Number).filter(Boolean);
  }

  /** Kills the process and waits until it has ended. */
  async kill(): Promise<void> {
    this.#isWanted = false;
    this.#process?.kill("SIGKILL");
    await this.#process?.exited;
  }

  /** Stops the process as an operator does, and kills it after a timeout. */
  async stop(): Promise<void> {
    this.#isWanted = false;
    this.#process?.kill("SIGTERM");
    const late = setTimeout(() => this.#process?.kill("SIGKILL"), endMsMax);
    await this.#process?.exited;
    clearTimeout(late);
  }

  /** Deletes its data, as on a new machine. The process must not run. */
  wipe(): void {
    rmSync(this.dataDirectory, { recursive: true, force: true });
    mkdirSync(this.dataDirectory, { mode: 0o700 });
  }

  pause(): void {
    if (this.isRunning) this.#process?.kill("SIGSTOP");
  }

  resume(): void {
    if (this.isRunning) this.#process?.kill("SIGCONT");
  }

  /** Sets its clock to an offset such as `+3600`, `-3600` or `+0 x2` in libfaketime's format. */
  setClock(offset: string): void {
    const { clockFile } = this.#options;
    if (clockFile !== undefined) writeFileSync(clockFile, `${offset}\n`);
  }

  #ended(child: Bun.Subprocess): void {
    if (child !== this.#process || !this.#isWanted) return;
    this.#deaths++;
    this.#isWanted = false;
  }
}

function clockEnvironment(clockFile: string | undefined): Record<string, string> {
  if (clockFile === undefined || faketimeLibrary === undefined) return {};
  return {
    LD_PRELOAD: faketimeLibrary,
    FAKETIME_TIMESTAMP_FILE: clockFile,
    FAKETIME_CACHE_DURATION: "1",
    DONT_FAKE_MONOTONIC: "1",
  };
}

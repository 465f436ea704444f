import { join } from "node:path";
import { StartupError } from "../../process/startup-error.ts";
import { LocalProcess, ProcessGuard } from "./local-cluster-process.ts";

const pollMs = 50;

/** A process that the supervisor runs. */
export interface Unit {
  readonly name: string;
  /** Returns the command line. Called for each start. */
  command(): Promise<readonly string[]>;
  /** Reports whether the process is ready. */
  isReady(process: LocalProcess): boolean | Promise<boolean>;
}

export interface SupervisorOptions {
  /** The directory of the log files, one for each unit. */
  readonly directory: string;
  /** Called when a ready unit ends unexpectedly. */
  readonly onDeath: (unit: Unit, process: LocalProcess) => void;
}

/** Runs units, reports units that die, and stops all of them in the end. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #guard = new ProcessGuard();
  readonly #running = new Map<string, LocalProcess>();
  readonly #dead = new Map<string, Unit>();
  #stopping = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  pidOf(name: string): number | undefined {
    return this.#running.get(name)?.pid;
  }

  logOf(name: string): string {
    return join(this.#options.directory, `${name}.log`);
  }

  /** Starts a unit, and resolves when it is ready. @throws StartupError when it ends first */
  async start(unit: Unit): Promise<void> {
    const { name } = unit;
    this.#dead.delete(name);
    const command = await unit.command();
    if (this.#stopping) throw new StartupError("stopped before it was ready");
    const process = new LocalProcess({ command, logFile: this.logOf(name) });
    this.#running.set(name, process);
    this.#watch();
    void process.ended.then(() => {
      this.#running.delete(name);
      this.#watch();
    });
    while (process.isRunning && !(await unit.isReady(process))) await Bun.sleep(pollMs);
    if (!process.isRunning) {
      this.#dead.set(name, unit);
      throw new StartupError(`${name} ${process.end}; its log is ${this.logOf(name)}`);
    }
    void process.ended.then(() => {
      if (this.#stopping) return;
      this.#dead.set(name, unit);
      this.#options.onDeath(unit, process);
    });
  }

  /** Restarts every dead unit. A unit that does not become ready stays dead. */
  startAgain(onStarted: (unit: Unit) => void, onFailure: (error: Error) => void): void {
    for (const unit of this.#dead.values()) this.start(unit).then(() => onStarted(unit), onFailure);
  }

  signal(name: string, signal: NodeJS.Signals): void {
    this.#running.get(name)?.signal(signal);
  }

  /**
   * Stops the named units at the same time, and prevents further starts. Returns the units that did not stop and were
   * killed.
   */
  async stop(names: readonly string[]): Promise<string[]> {
    this.#stopping = true;
    const stopped = await Promise.all(
      names.map(async (name) => ((await (this.#running.get(name)?.stop() ?? true)) ? [] : [name])),
    );
    return stopped.flat();
  }

  close(): void {
    this.#guard[Symbol.dispose]();
  }

  #watch(): void {
    this.#guard.watch([...this.#running.values()].map(({ pid }) => pid));
  }
}

import { join } from "node:path";
import { StartupError } from "../../process/startup-error.ts";
import { LocalProcess, ProcessGuard } from "./local-cluster-process.ts";

const pollMs = 50;

/** A process that is to run. */
export interface Unit {
  readonly name: string;
  /** Made for each start. */
  command(): Promise<readonly string[]>;
  /** Whether it does what it is there for. */
  isReady(process: LocalProcess): boolean | Promise<boolean>;
}

export interface SupervisorOptions {
  /** Of the logs, one of each unit. */
  readonly directory: string;
  /** A unit that was ready is not there any more, and was not told to stop. */
  readonly onDeath: (unit: Unit, process: LocalProcess) => void;
}

/** Runs units, says which died, and leaves none behind. */
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

  /** Resolves when the unit is ready. @throws StartupError when it ends before */
  async start(unit: Unit): Promise<void> {
    const { name } = unit;
    this.#dead.delete(name);
    const command = await unit.command();
    if (this.#stopping) throw new StartupError("told to stop");
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

  /** Each that has died. What is not ready again stays dead. */
  startAgain(onStarted: (unit: Unit) => void, onFailure: (error: Error) => void): void {
    for (const unit of this.#dead.values()) this.start(unit).then(() => onStarted(unit), onFailure);
  }

  signal(name: string, signal: NodeJS.Signals): void {
    this.#running.get(name)?.signal(signal);
  }

  /** Those that are named, at the same time. From the first stop on nothing is started. @returns those that had to be killed */
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

import { closeSync, existsSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { atMost } from "../../../process/at-most.ts";
import type { Clock } from "../../../process/clock.ts";
import { LogWriter } from "../log-file/log-writer.ts";
import { readLogEnd, readMessageFile } from "../log-file/termination-message.ts";
import { type ContainerState, type ProcessStreams, type RuntimeContainer, RuntimeError } from "../runtime.ts";
import {
  type ContainerExit,
  type ContainerRecord,
  type ContainerRun,
  type RecordFolder,
  terminationMessageName,
} from "./container-record.ts";
import type { ControlGroups } from "./control-groups.ts";
import { commandScript, setupScript, superviseScript } from "./launch-scripts.ts";
import { holdPipe, makePipes, PipeReader } from "./named-pipe.ts";
import { OutputFeed } from "./output-feed.ts";
import {
  allProcesses,
  isRunning,
  type ProcessIdentity,
  processFamily,
  readProcess,
  signalProcess,
} from "./process-table.ts";
import { resizeTerminal } from "./resize-terminal.ts";
import { signalNumber } from "./signal-number.ts";

/** Time for the setup of a container, which mounts its volumes. */
const setupMsMax = 30_000;
/** Time in which a killed container has to be gone. */
const killMsMax = 10_000;
/** Time in which the rest of the output is read after the end, in case a process that left holds the pipe open. */
const drainMsMax = 2_000;
/** Number of attempts to kill all processes. Some may start others between the reading of the table and the signal. */
const killRoundsMax = 50;
/** Status of a process that SIGKILL has ended. */
const killedCode = 128 + constants.signals.SIGKILL;
/** Time after which input is offered again to a process that does not read. */
const inputRetryMs = 20;

export interface ContainerParts {
  readonly records: RecordFolder<ContainerRecord>;
  readonly groups: ControlGroups | undefined;
  readonly clock: Clock;
  readonly toolPath: string;
  /** Called when the container has ended by itself or by force. */
  readonly onExit: (podUid: string) => void;
}

/**
 * One run of a container: a supervisor, which is a small shell, and the processes below it. The pipes of their output
 * have names, so that the next agent reads on where this one has stopped.
 *
 *     created → running → exited
 */
export class ProcessContainer implements Disposable {
  readonly #parts: ContainerParts;
  readonly #folder: string;
  #record: ContainerRecord;
  #log: LogWriter | undefined;
  #feed = new OutputFeed();
  #readers: PipeReader[] = [];
  /** Pipes that are held open while the container starts. */
  #held: number[] = [];
  #input: number | undefined;
  #terminal: Bun.Terminal | undefined;
  readonly #terminalEnded = Promise.withResolvers<void>();
  #status = "";
  #problem = "";
  #hasStarted = false;
  /** Resolves when the command runs, or has failed to. */
  readonly #started = Promise.withResolvers<void>();
  readonly #exited = Promise.withResolvers<void>();

  constructor(record: ContainerRecord, parts: ContainerParts) {
    this.#record = record;
    this.#parts = parts;
    this.#folder = parts.records.folderOf(record.id);
    if (record.exit !== undefined) this.#exited.resolve();
  }

  get record(): ContainerRecord {
    return this.#record;
  }

  /** Present while the container runs. */
  get log(): LogWriter | undefined {
    return this.#log;
  }

  get isRunning(): boolean {
    return this.#record.run !== undefined && this.#record.exit === undefined;
  }

  get exited(): Promise<void> {
    return this.#exited.promise;
  }

  get mainPid(): number | undefined {
    return this.isRunning ? this.#record.run?.main?.pid : undefined;
  }

  describe(): RuntimeContainer {
    const { id, sandboxId, name, attempt, image, imageRef } = this.#record;
    return { id, sandboxId, name, attempt, image, imageRef, state: this.#state() };
  }

  /** Starts the processes. @throws RuntimeError if the surroundings cannot be made */
  async start(): Promise<void> {
    const { id, launch, isTerminal, stdin } = this.#record;
    if (this.#record.run !== undefined) throw new RuntimeError("RunContainerError", `container ${id} has been started`);
    const write = (name: string, text: string) => writeFileSync(join(this.#folder, name), text, { mode: 0o600 });
    write("supervise.sh", superviseScript(this.#folder, { hasOwnMounts: launch.mounts.length > 0, isTerminal, stdin }));
    write("setup.sh", setupScript(this.#folder, launch));
    write("command.sh", commandScript(launch));
    await makePipes(this.#pipeNames().map((name) => join(this.#folder, name)));
    this.#openPipes();
    const supervisor = this.#spawnSupervisor();
    this.#save({ run: { supervisor, startedAtMs: this.#parts.clock.nowMs() } });
    await atMost(this.#parts.clock, setupMsMax, this.#started.promise);
    this.#releasePipes();
    if (!this.#hasStarted) {
      await this.stop(0);
      const problem = this.#problem || `its mounts were not ready in ${setupMsMax / 1_000} seconds`;
      throw new RuntimeError("RunContainerError", `failed to start container "${this.#record.name}": ${problem}`);
    }
  }

  /** Takes over a container that an earlier agent has started. */
  async adopt(): Promise<void> {
    const { run, exit } = this.#record;
    if (run === undefined || exit !== undefined) return;
    this.#started.resolve();
    const left = readText(join(this.#folder, "exit"));
    if (!isRunning(run.supervisor)) {
      this.#killRest(run);
      await this.#finish(left === undefined ? undefined : Number(left));
      return;
    }
    this.#openPipes();
    this.#releasePipes();
    if (run.main === undefined) this.#findMain(run);
    // The last agent may have read the end from the pipe without recording it.
    if (left !== undefined) await this.#finish(Number(left));
  }

  /** Asks the process to end, and kills everything when the time is over. */
  async stop(graceSeconds: number): Promise<void> {
    const { run } = this.#record;
    if (run === undefined || !this.isRunning) return;
    if (graceSeconds > 0 && run.main !== undefined) {
      signalProcess(run.main, signalNumber(this.#record.stopSignal));
      await atMost(this.#parts.clock, graceSeconds * 1_000, this.#exited.promise);
    }
    if (!this.isRunning) return;
    this.#killRest(run);
    await atMost(this.#parts.clock, killMsMax, this.#exited.promise);
    if (this.isRunning) throw new RuntimeError("KillContainerError", `container ${this.#record.id} does not end`);
  }

  /** Connects a client to the streams of the main process until either ends. */
  async attach(streams: ProcessStreams, signal: AbortSignal): Promise<void> {
    const done = new AbortController();
    const either = AbortSignal.any([signal, done.signal]);
    const output = this.#feed.follow(streams, either);
    if (streams.stdin !== undefined && this.#record.stdin !== "none") {
      // Its end is not awaited: a client may keep its input open when the container has ended.
      void this.#copyInput(streams.stdin, either).catch(() => done.abort());
    }
    if (this.#terminal !== undefined && streams.resize !== undefined)
      void resizeTerminal(this.#terminal, streams.resize);
    try {
      await output;
    } finally {
      done.abort();
    }
  }

  /** Changes the limits. The caller has checked that the machine can. */
  updateResources(resources: ContainerRecord["resources"]): void {
    this.#save({ resources });
  }

  /** Stops following the container, which goes on. */
  [Symbol.dispose](): void {
    for (const reader of this.#readers) reader[Symbol.dispose]();
    this.#releasePipes();
    this.#closeInput();
    this.#terminal?.close();
    this.#log?.[Symbol.dispose]();
    this.#feed.end();
  }

  #state(): ContainerState {
    const { run, exit } = this.#record;
    if (run === undefined) return { kind: "created" };
    const { startedAtMs } = run;
    return exit === undefined ? { kind: "running", startedAtMs } : { kind: "exited", startedAtMs, ...exit };
  }

  #pipeNames(): string[] {
    const { isTerminal, stdin } = this.#record;
    return ["status", ...(isTerminal ? [] : ["out", "err", ...(stdin === "none" ? [] : ["in"])])];
  }

  #openPipes(): void {
    const path = (name: string) => join(this.#folder, name);
    this.#log = new LogWriter({ path: this.#record.logPath, clock: this.#parts.clock });
    this.#held = this.#pipeNames().map((name) => holdPipe(path(name)));
    const status = new PipeReader(path("status"), (chunk) => this.#takeStatus(chunk));
    void status.ended.then(() => this.#finish(undefined));
    this.#readers = [status];
    if (this.#record.isTerminal) return;
    this.#readers.push(new PipeReader(path("out"), (chunk) => this.#takeOutput("stdout", chunk)));
    this.#readers.push(new PipeReader(path("err"), (chunk) => this.#takeOutput("stderr", chunk)));
    if (this.#record.stdin !== "none") this.#input = holdPipe(path("in"));
  }

  /** Lets the pipes end with the processes that write to them. */
  #releasePipes(): void {
    for (const file of this.#held) closeSync(file);
    this.#held = [];
  }

  #spawnSupervisor(): ProcessIdentity {
    const command = ["/bin/sh", join(this.#folder, "supervise.sh")];
    const options = { cwd: "/", env: { PATH: this.#parts.toolPath }, detached: true };
    let pid: number;
    if (this.#record.isTerminal) {
      const terminal: Bun.TerminalOptions = {
        data: (_terminal, chunk) => this.#takeOutput("stdout", Buffer.from(chunk)),
        exit: () => this.#terminalEnded.resolve(),
      };
      const supervisor = Bun.spawn(command, { ...options, terminal });
      this.#terminal = supervisor.terminal;
      supervisor.unref();
      pid = supervisor.pid;
    } else {
      const supervisor = Bun.spawn(command, { ...options, stdio: ["ignore", "ignore", "ignore"] });
      supervisor.unref();
      pid = supervisor.pid;
    }
    return { pid, startTicks: readProcess(pid)?.startTicks ?? 0 };
  }

  #takeOutput(stream: "stdout" | "stderr", chunk: Uint8Array): void {
    this.#log?.write(stream, chunk);
    this.#feed.publish(stream, chunk);
  }

  #takeStatus(chunk: Uint8Array): void {
    this.#status += Buffer.from(chunk).toString();
    const lines = this.#status.split("\n");
    this.#status = lines.pop() ?? "";
    for (const line of lines) this.#takeStatusLine(line);
  }

  #takeStatusLine(line: string): void {
    const [word = "", number = ""] = line.split(" ");
    if (line === "started") {
      this.#hasStarted = true;
      this.#started.resolve();
    } else if (word === "pid" && isNumber(number)) this.#setMain(Number(number));
    else if (word === "exit" && isNumber(number)) void this.#finish(Number(number));
    else this.#problem += (this.#problem === "" ? "" : "; ") + line;
  }

  #setMain(pid: number): void {
    const { run } = this.#record;
    const startTicks = readProcess(pid)?.startTicks;
    if (run === undefined || startTicks === undefined) return;
    this.#save({ run: { ...run, main: { pid, startTicks } } });
  }

  #findMain({ supervisor }: ContainerRun): void {
    const main = processFamily(allProcesses(), supervisor.pid).find(({ parentPid }) => parentPid === supervisor.pid);
    if (main !== undefined) this.#setMain(main.pid);
  }

  /** Records the end, after all processes are gone and their output has been read. Without a code they were killed. */
  async #finish(code: number | undefined): Promise<void> {
    const { run, exit, id } = this.#record;
    if (run === undefined || exit !== undefined || this.#log?.isClosed === true) return;
    this.#killRest(run);
    signalProcess(run.supervisor, "SIGKILL");
    this.#releasePipes();
    const [, ...readers] = this.#readers;
    const outputs = readers.map(({ ended }) => ended);
    if (this.#terminal !== undefined) outputs.push(this.#terminalEnded.promise);
    await atMost(this.#parts.clock, drainMsMax, Promise.all(outputs));
    // Both the status and the end of its pipe come here.
    if (this.#record.exit !== undefined) return;
    const exitCode = code ?? killedCode;
    const isOutOfMemory = exitCode !== 0 && this.#parts.groups?.ranOutOfMemory(id) === true;
    const reason = isOutOfMemory ? "OOMKilled" : exitCode === 0 ? "Completed" : "Error";
    const message = this.#problem || this.#messageFor(exitCode);
    this.#end({ exitCode, reason, finishedAtMs: this.#parts.clock.nowMs(), message });
  }

  #messageFor(exitCode: number): string {
    const { terminationMessage, logPath } = this.#record;
    if (terminationMessage === undefined) return "";
    const message = readMessageFile(join(this.#folder, terminationMessageName));
    if (message !== "" || exitCode === 0 || !terminationMessage.fallsBackToLog) return message;
    // The log ends with lines that have no newline, which are written when it is closed.
    this.#log?.[Symbol.dispose]();
    return readLogEnd(logPath);
  }

  #end(exit: ContainerExit): void {
    this.#save({ exit });
    this.#parts.groups?.remove(this.#record.id);
    this[Symbol.dispose]();
    this.#started.resolve();
    this.#exited.resolve();
    this.#parts.onExit(this.#record.podUid);
  }

  /** Kills all processes of the container except its supervisor. */
  #killRest({ supervisor, main }: ContainerRun): void {
    const { groups } = this.#parts;
    const { id } = this.#record;
    const isSupervised = isRunning(supervisor);
    for (let round = 0; round < killRoundsMax; round++) {
      groups?.kill(id);
      const family = isSupervised ? processFamily(allProcesses(), supervisor.pid) : [];
      const inGroup = (groups?.pids(id) ?? []).flatMap((pid) => readProcess(pid) ?? []);
      const orphan = main !== undefined && isRunning(main) ? [main] : [];
      const rest = [...family, ...inGroup, ...orphan].filter((one) => one.pid !== supervisor.pid && isRunning(one));
      if (rest.length === 0) return;
      for (const one of rest) signalProcess(one, "SIGKILL");
    }
  }

  async #copyInput(input: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> {
    for await (const chunk of input) {
      if (signal.aborted) return;
      if (this.#terminal !== undefined) this.#terminal.write(chunk);
      else await this.#writeInput(chunk, signal);
    }
    if (this.#record.stdin === "once") this.#closeInput();
  }

  async #writeInput(chunk: Uint8Array, signal: AbortSignal): Promise<void> {
    for (let at = 0; at < chunk.length && this.#input !== undefined && !signal.aborted; ) {
      try {
        at += writeSync(this.#input, chunk, at);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
        await Bun.sleep(inputRetryMs);
      }
    }
  }

  #closeInput(): void {
    if (this.#input !== undefined) closeSync(this.#input);
    this.#input = undefined;
  }

  #save(changes: Partial<Pick<ContainerRecord, "run" | "exit" | "resources">>): void {
    this.#record = { ...this.#record, ...changes };
    // A container that has been removed must not come back.
    if (existsSync(this.#folder)) this.#parts.records.write(this.#record);
  }
}

function isNumber(text: string): boolean {
  return /^\d+$/.test(text);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return undefined;
  }
}

import { randomBytes } from "node:crypto";
import { chmodSync, chownSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, normalize, resolve } from "node:path";
import manifest from "../../../../package.json" with { type: "json" };
import type { ContainerImage, Pod, ResourceRequirements } from "../../../api/types/core-v1.ts";
import type { Clock } from "../../../process/clock.ts";
import { thrownText } from "../../../process/thrown-text.ts";
import { podLogDirectory } from "../../pods/start-container.ts";
import { readLog } from "../log-file/log-reader.ts";
import { removeLog } from "../log-file/log-writer.ts";
import {
  type ContainerConfig,
  type ContainerStats,
  type ExecOptions,
  type LogLine,
  type Mount,
  type PortConnection,
  type ProcessStreams,
  type Runtime,
  type RuntimeContainer,
  RuntimeError,
  type RuntimeId,
  type Sandbox,
} from "../runtime.ts";
import {
  type ContainerRecord,
  RecordFolder,
  type TerminationMessage,
  terminationMessageName,
} from "./container-record.ts";
import { type ContainerUser, containerUser, privilegesCommand } from "./container-user.ts";
import { ControlGroups, type Controller } from "./control-groups.ts";
import { commandPathDefault, commandProblem } from "./find-command.ts";
import { forwardPort } from "./forward-port.ts";
import { commandScript, joinScript, type Launch, type LaunchMount } from "./launch-scripts.ts";
import { madePaths, removeMadePaths } from "./mount-points.ts";
import { mountTarget } from "./mount-target.ts";
import { ProcessContainer } from "./process-container.ts";
import { allProcesses, type ProcessFacts, processFamily } from "./process-table.ts";
import { runCommand } from "./run-command.ts";

/** Clock ticks of /proc in a second, which Linux fixes for programs. */
const ticksPerSecond = 100;
const stopSignalDefault = "SIGTERM";

export interface ProcessRuntimeOptions {
  /** Folder of the runtime's records, and of the working directories of containers. */
  readonly folder: string;
  /** Directory of the logs of all pods. */
  readonly logDirectory: string;
  readonly clock: Clock;
  /** Largest number of processes of a container; undefined for no limit. */
  readonly pidsMax?: number | undefined;
}

/** The rights of the agent on this machine. */
interface Abilities {
  readonly groups: ControlGroups | undefined;
  /** Containers can have their own mounts. */
  readonly canMount: boolean;
  /** Containers can run as other users. */
  readonly canChangeUser: boolean;
  readonly pageBytes: number;
}

/**
 * Runs containers as plain processes of the machine. They share its file system and network; an image is only a name.
 * They outlive the agent, and the next one finds them by their records.
 */
export class ProcessRuntime implements Runtime {
  readonly version = `process://${manifest.version}`;
  readonly #options: ProcessRuntimeOptions;
  readonly #abilities: Abilities;
  readonly #sandboxRecords: RecordFolder<Sandbox>;
  readonly #containerRecords: RecordFolder<ContainerRecord>;
  readonly #sandboxes = new Map<RuntimeId, Sandbox>();
  readonly #containers = new Map<RuntimeId, ProcessContainer>();
  readonly #listeners = new Set<(podUid: string) => void>();

  private constructor(options: ProcessRuntimeOptions, abilities: Abilities) {
    this.#options = options;
    this.#abilities = abilities;
    this.#sandboxRecords = new RecordFolder(join(options.folder, "sandboxes"));
    this.#containerRecords = new RecordFolder(join(options.folder, "containers"));
  }

  /** Opens the runtime and takes over the containers of an earlier agent. @throws Error on a machine without /proc */
  static async open(options: ProcessRuntimeOptions): Promise<ProcessRuntime> {
    if (process.platform !== "linux") throw new Error("the process runtime needs Linux");
    makePassable(options.folder);
    const runtime = new ProcessRuntime(options, findAbilities(options.folder));
    await runtime.#restore();
    return runtime;
  }

  get shortcomings(): readonly string[] {
    const { groups, canMount, canChangeUser } = this.#abilities;
    const missing = (["memory", "cpu", "pids"] as const).filter((name) => groups?.controllers.has(name) !== true);
    return [
      ...(groups === undefined
        ? ["cgroup v2 cannot be used, so a process that leaves its session may be left over"]
        : []),
      ...(missing.length > 0 ? [`limits are not enforced without a cgroup v2 controller: ${missing.join(", ")}`] : []),
      ...(canMount ? [] : ["volumes are links below the working directory, because the agent may not mount"]),
      ...(canChangeUser ? [] : ["containers run as the agent's user, because it is not root or setpriv is missing"]),
    ];
  }

  async problems(): Promise<readonly string[]> {
    return [];
  }

  async imageRef(image: string): Promise<string | undefined> {
    return image;
  }

  async pullImage(image: string): Promise<string> {
    return image;
  }

  async images(): Promise<readonly ContainerImage[]> {
    return [];
  }

  async runSandbox(pod: Pod, attempt: number): Promise<Sandbox> {
    const { uid = "", namespace = "", name = "" } = pod.metadata;
    const sandbox = { id: newId(), podUid: uid, namespace, podName: name, isReady: true, ips: [], attempt };
    this.#keep(sandbox);
    return sandbox;
  }

  async stopSandbox(id: RuntimeId): Promise<void> {
    const sandbox = this.#sandboxes.get(id);
    if (sandbox === undefined) return;
    await Promise.all(this.#containersOf(id).map((container) => container.stop(0)));
    this.#keep({ ...sandbox, isReady: false });
  }

  async removeSandbox(id: RuntimeId): Promise<void> {
    await this.stopSandbox(id);
    for (const { record } of this.#containersOf(id)) await this.removeContainer(record.id);
    const sandbox = this.#sandboxes.get(id);
    this.#sandboxes.delete(id);
    this.#sandboxRecords.remove(id);
    if (sandbox === undefined || [...this.#sandboxes.values()].some(({ podUid }) => podUid === sandbox.podUid)) return;
    const metadata = { namespace: sandbox.namespace, name: sandbox.podName, uid: sandbox.podUid };
    rmSync(podLogDirectory(this.#options.logDirectory, { metadata }), { recursive: true, force: true });
  }

  async createContainer(sandbox: Sandbox, pod: Pod, config: ContainerConfig): Promise<RuntimeId> {
    const { spec, attempt, imageRef, logPath } = config;
    const id = newId();
    const { groups } = this.#abilities;
    const resources = spec.resources ?? {};
    const terminationMessage = terminationMessageOf(config);
    try {
      const own = terminationMessage === undefined ? [] : [this.#messageMount(id, terminationMessage)];
      const launch = this.#launchOf(id, pod, { ...config, mounts: [...config.mounts, ...own] });
      groups?.make(id);
      groups?.limit(id, resources, this.#options.pidsMax);
      const record: ContainerRecord = {
        id,
        sandboxId: sandbox.id,
        podUid: sandbox.podUid,
        name: spec.name,
        image: spec.image ?? "",
        attempt,
        imageRef,
        logPath,
        launch,
        madePaths: madePaths(mountPathsOf(launch), this.#madeBefore()),
        resources,
        isTerminal: spec.tty ?? false,
        stdin: spec.stdin !== true ? "none" : spec.stdinOnce === true ? "once" : "open",
        stopSignal: spec.lifecycle?.stopSignal ?? stopSignalDefault,
        terminationMessage,
      };
      this.#containerRecords.write(record);
      this.#containers.set(id, this.#container(record));
      return id;
    } catch (error) {
      this.#discard(id);
      throw error instanceof RuntimeError ? error : new RuntimeError("CreateContainerError", thrownText(error));
    }
  }

  async startContainer(id: RuntimeId): Promise<void> {
    const container = this.#find(id);
    const { launch } = container.record;
    this.#requireCommand(launch, "RunContainerError");
    await container.start();
  }

  async stopContainer(id: RuntimeId, graceSeconds: number): Promise<void> {
    await this.#containers.get(id)?.stop(graceSeconds);
  }

  async removeContainer(id: RuntimeId): Promise<void> {
    const container = this.#containers.get(id);
    if (container === undefined) return;
    await container.stop(0);
    container[Symbol.dispose]();
    this.#containers.delete(id);
    this.#discard(id);
    removeLog(container.record.logPath);
    const inUse = [...this.#containers.values()].flatMap(({ record }) => mountPathsOf(record.launch));
    removeMadePaths(container.record.madePaths, inUse);
  }

  async updateResources(id: RuntimeId, resources: ResourceRequirements): Promise<void> {
    const container = this.#find(id);
    const { groups } = this.#abilities;
    const wanted = (["cpu", "memory"] as const).filter((name) => resources.limits?.[name] !== undefined);
    const missing = wanted.filter((name: Controller) => groups?.controllers.has(name) !== true);
    if (missing.length > 0) {
      const message = `this machine cannot limit ${missing.join(" and ")}: there is no cgroup v2 controller for it`;
      throw new RuntimeError("ResizeError", message, "Unimplemented");
    }
    groups?.limit(id, resources, this.#options.pidsMax);
    container.updateResources(resources);
  }

  async sandboxes(): Promise<readonly Sandbox[]> {
    return [...this.#sandboxes.values()];
  }

  async containers(): Promise<readonly RuntimeContainer[]> {
    return [...this.#containers.values()].map((container) => container.describe());
  }

  subscribe(listener: (podUid: string) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  logs({ id }: RuntimeContainer, { follow, signal }: { follow: boolean; signal: AbortSignal }): AsyncIterable<LogLine> {
    const { record, log } = this.#find(id);
    return readLog(record.logPath, signal, follow ? log : undefined);
  }

  async exec(
    id: RuntimeId,
    command: readonly string[],
    options: ExecOptions,
    streams: ProcessStreams,
  ): Promise<number> {
    const container = this.#findRunning(id);
    const { launch } = container.record;
    const joined: Launch = { ...launch, command, mounts: [] };
    this.#requireCommand({ ...launch, command }, "ExecError");
    const folder = join(this.#containerRecords.folderOf(id), `exec-${newId()}`);
    const file = (name: string) => join(folder, name);
    mkdirSync(folder, { mode: 0o700 });
    try {
      writeFileSync(file("command.sh"), commandScript(joined), { mode: 0o600 });
      writeFileSync(file("join.sh"), joinScript(file("command.sh"), joined), { mode: 0o600 });
      const enter = launch.mounts.length > 0 ? ["nsenter", `--mount=/proc/${container.mainPid}/ns/mnt`, "--"] : [];
      const environment = { PATH: commandPathDefault };
      const { clock } = this.#options;
      return await runCommand([...enter, "/bin/sh", file("join.sh")], environment, options, streams, clock);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  async attach(id: RuntimeId, { signal }: { signal: AbortSignal }, streams: ProcessStreams): Promise<void> {
    await this.#findRunning(id).attach(streams, signal);
  }

  async portForward(sandboxId: RuntimeId, port: number, connection: PortConnection): Promise<void> {
    if (this.#sandboxes.get(sandboxId)?.isReady !== true) {
      throw new RuntimeError("PortForwardError", `sandbox ${sandboxId} is not running`, "NotFound");
    }
    await forwardPort(port, connection);
  }

  async stats(): Promise<readonly ContainerStats[]> {
    const table = allProcesses();
    const timeMs = this.#options.clock.nowMs();
    const running = [...this.#containers.values()].filter(({ isRunning }) => isRunning);
    return running.map(({ record }) => {
      const usage = this.#abilities.groups?.usage(record.id) ?? this.#usageByTable(table, record);
      return { containerId: record.id, timeMs, ...usage };
    });
  }

  writableFolder(id: RuntimeId): string {
    return join(this.#workRoot, id);
  }

  async checkpoint(): Promise<void> {
    throw new RuntimeError("CheckpointError", "the process runtime cannot checkpoint a container", "Unimplemented");
  }

  /** Stops following the containers, which go on. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#listeners.clear();
    for (const container of this.#containers.values()) container[Symbol.dispose]();
    this.#abilities.groups?.[Symbol.dispose]();
  }

  async #restore(): Promise<void> {
    for (const sandbox of this.#sandboxRecords.readAll()) this.#sandboxes.set(sandbox.id, sandbox);
    for (const record of this.#containerRecords.readAll()) {
      const container = this.#container(record);
      this.#containers.set(record.id, container);
      await container.adopt();
    }
  }

  #container(record: ContainerRecord): ProcessContainer {
    return new ProcessContainer(record, {
      records: this.#containerRecords,
      groups: this.#abilities.groups,
      clock: this.#options.clock,
      toolPath: commandPathDefault,
      onExit: (podUid) => {
        for (const listener of this.#listeners) listener(podUid);
      },
    });
  }

  #keep(sandbox: Sandbox): void {
    this.#sandboxes.set(sandbox.id, sandbox);
    this.#sandboxRecords.write(sandbox);
  }

  #containersOf(sandboxId: RuntimeId): ProcessContainer[] {
    return [...this.#containers.values()].filter(({ record }) => record.sandboxId === sandboxId);
  }

  #find(id: RuntimeId): ProcessContainer {
    const container = this.#containers.get(id);
    if (container === undefined) throw new RuntimeError("NotFound", `container "${id}" not found`, "NotFound");
    return container;
  }

  #findRunning(id: RuntimeId): ProcessContainer {
    const container = this.#find(id);
    if (!container.isRunning) throw new RuntimeError("NotRunning", `container "${id}" is not running`, "NotFound");
    return container;
  }

  #launchOf(id: RuntimeId, pod: Pod, config: ContainerConfig): Launch {
    const { spec, command = [], args = [], environment, mounts } = config;
    if (command.length === 0) {
      const message = `no command specified: the process runtime has no image that names one`;
      throw new RuntimeError("CreateContainerError", message);
    }
    const { groups, canMount } = this.#abilities;
    const user = containerUser(pod, spec, process.getuid?.() ?? 0);
    const privileges = this.#privileges(user);
    const launchMounts = canMount ? mounts.map(launchMount) : [];
    const workFolder = this.#makeWorkFolder(id, user);
    if (!canMount) linkMounts(workFolder, mounts);
    return {
      command: [...command, ...args],
      environment: withPath(environment),
      workingDirectory: spec.workingDir ?? workFolder,
      mounts: privileges.length === 0 ? launchMounts : launchMounts.map((mount) => this.#withTarget(mount)),
      privileges,
      controlGroup: groups?.folderOf(id),
    };
  }

  /** Makes the file in which a container leaves its message. */
  #messageMount(id: RuntimeId, { containerPath }: TerminationMessage): Mount {
    const folder = this.#containerRecords.folderOf(id);
    const hostPath = join(folder, terminationMessageName);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(hostPath, "");
    // Users that cannot enter the folder write to the file through their mount.
    chmodSync(hostPath, 0o666);
    return { hostPath, containerPath, isReadOnly: false, propagation: "None" };
  }

  get #workRoot(): string {
    return join(this.#options.folder, "work");
  }

  #makeWorkFolder(id: RuntimeId, { uid, gid }: ContainerUser): string {
    makePassable(this.#workRoot);
    const folder = this.writableFolder(id);
    mkdirSync(folder, { mode: 0o755 });
    if (this.#abilities.canChangeUser && uid !== undefined) chownSync(folder, uid, gid ?? uid);
    return folder;
  }

  #privileges(user: ContainerUser): string[] {
    const command = privilegesCommand(user);
    const isOwnUser = user.uid === process.getuid?.() && (user.gid ?? process.getgid?.()) === process.getgid?.();
    if (command.length === 0 || this.#abilities.canChangeUser) return command;
    if (user.groups.length === 0 && user.capabilities.length === 0 && (isOwnUser || user.uid === undefined)) return [];
    const message = "the agent cannot change the user, groups or capabilities of a container: it is not root";
    throw new RuntimeError("CreateContainerError", message);
  }

  #withTarget(mount: LaunchMount): LaunchMount {
    return { ...mount, target: mountTarget(mount.containerPath, this.#options.folder) };
  }

  #requireCommand({ command: [program = ""], environment, workingDirectory, mounts }: Launch, reason: string): void {
    const searchPath = environment.findLast(([name]) => name === "PATH")?.[1] ?? "";
    const problem = commandProblem(program, searchPath, workingDirectory, mountPathsOf({ mounts }));
    if (problem !== undefined) throw new RuntimeError(reason, problem);
  }

  #usageByTable(
    table: readonly ProcessFacts[],
    { run }: ContainerRecord,
  ): Omit<ContainerStats, "containerId" | "timeMs"> {
    const pid = run?.supervisor.pid ?? -1;
    const family = processFamily(table, pid).filter((one) => one.pid !== pid);
    const ticks = family.reduce((sum, { cpuTicks }) => sum + cpuTicks, 0);
    const memoryBytes = family.reduce((sum, { residentPages }) => sum + residentPages, 0) * this.#abilities.pageBytes;
    return { cpuNanoseconds: (ticks * 1e9) / ticksPerSecond, memoryBytes, workingSetBytes: memoryBytes };
  }

  #madeBefore(): Set<string> {
    return new Set([...this.#containers.values()].flatMap(({ record }) => record.madePaths));
  }

  #discard(id: RuntimeId): void {
    this.#abilities.groups?.remove(id);
    this.#containerRecords.remove(id);
    rmSync(this.writableFolder(id), { recursive: true, force: true });
  }
}

function findAbilities(folder: string): Abilities {
  const isRoot = process.getuid?.() === 0;
  // The groups of two agents on one machine have different names.
  const name = `quorate-${Bun.hash(folder).toString(16)}`;
  return {
    groups: ControlGroups.open(name),
    canMount: isRoot && succeeds(["unshare", "--mount", "--propagation", "private", "true"]),
    canChangeUser: isRoot && succeeds(["setpriv", "--clear-groups", "true"]),
    pageBytes: Number(Bun.spawnSync(["getconf", "PAGESIZE"]).stdout.toString()) || 4096,
  };
}

/** Makes a folder that other users may pass through, as those of containers have to, but not list. */
function makePassable(folder: string): void {
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o711);
}

function succeeds(command: string[]): boolean {
  try {
    return Bun.spawnSync(command, { env: { PATH: commandPathDefault }, stdout: "ignore", stderr: "ignore" }).success;
  } catch {
    return false;
  }
}

function newId(): RuntimeId {
  return randomBytes(32).toString("hex");
}

function withPath(environment: Launch["environment"]): Launch["environment"] {
  return environment.some(([name]) => name === "PATH") ? environment : [["PATH", commandPathDefault], ...environment];
}

/** @throws RuntimeError for a mount that a plain process cannot have */
function launchMount({ hostPath, containerPath, isReadOnly, propagation }: Mount): LaunchMount {
  const refuse = (problem: string) => new RuntimeError("CreateContainerError", `mount at ${containerPath}: ${problem}`);
  if (propagation !== "None") throw refuse(`the process runtime has no mount propagation ${propagation}`);
  if (normalize(containerPath) === "/") throw refuse("the process runtime cannot replace the root directory");
  const facts = statSync(hostPath, { throwIfNoEntry: false });
  if (facts === undefined) throw refuse(`${hostPath} does not exist`);
  return { hostPath, containerPath, isReadOnly, isFolder: facts.isDirectory() };
}

function terminationMessageOf({ spec, mounts }: ContainerConfig): TerminationMessage | undefined {
  const { terminationMessagePath: containerPath = "", terminationMessagePolicy } = spec;
  const isTaken = mounts.some((mount) => mount.containerPath === containerPath);
  if (containerPath === "" || isTaken) return undefined;
  return {
    containerPath: resolve("/", containerPath),
    fallsBackToLog: terminationMessagePolicy === "FallbackToLogsOnError",
  };
}

function mountPathsOf({ mounts }: Pick<Launch, "mounts">): string[] {
  return mounts.map(({ containerPath }) => containerPath);
}

/** Makes volumes reachable below the working directory of a container. */
function linkMounts(workFolder: string, mounts: readonly Mount[]): void {
  for (const { hostPath, containerPath } of mounts) {
    // Absolute first, so that `..` ends at the root.
    const link = join(workFolder, resolve("/", containerPath));
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(hostPath, link);
  }
}

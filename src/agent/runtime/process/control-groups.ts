import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nanosPerUnit, parseQuantity } from "../../../api/quantity.ts";
import type { ResourceRequirements } from "../../../api/types/core-v1.ts";

export type Controller = "cpu" | "memory" | "pids";
const controllers: readonly Controller[] = ["cpu", "memory", "pids"];

/** Period in which a limit of CPU time counts, as upstream's cpuCFSQuotaPeriod. */
const cpuPeriodMicros = 100_000;
/** Shortest quota that the kernel accepts. */
const cpuQuotaMicrosMin = 1_000;

export interface GroupUsage {
  readonly cpuNanoseconds: number;
  readonly memoryBytes: number;
  readonly workingSetBytes: number;
}

/** Files of the kernel that tell about control groups. Tests have their own. */
export interface KernelFiles {
  readonly mountInfo: string;
  readonly ownGroup: string;
}

const kernelFiles: KernelFiles = { mountInfo: "/proc/self/mountinfo", ownGroup: "/proc/self/cgroup" };

/** The control groups (cgroup v2) of the containers. Without controllers they still find and kill all processes. */
export class ControlGroups implements Disposable {
  readonly #root: string;
  /** The controllers that limit containers here. */
  readonly controllers: ReadonlySet<Controller>;

  private constructor(root: string, available: ReadonlySet<Controller>) {
    this.#root = root;
    this.controllers = available;
  }

  /** Returns undefined where this process may not make groups. `name` sets the groups of one agent apart. */
  static open(name: string, files: KernelFiles = kernelFiles): ControlGroups | undefined {
    try {
      const own = ownGroupFolder(files);
      if (own === undefined) return undefined;
      const root = join(own, name);
      mkdirSync(root, { recursive: true });
      if (!existsSync(join(root, "cgroup.procs"))) return undefined;
      const inOwn = delegate(own);
      const available = inOwn.filter((controller) => enable(root, controller));
      return new ControlGroups(root, new Set(available));
    } catch {
      return undefined;
    }
  }

  /** Makes the group of a container and returns its folder. */
  make(id: string): string {
    const folder = join(this.#root, id);
    mkdirSync(folder, { recursive: true });
    return folder;
  }

  folderOf(id: string): string {
    return join(this.#root, id);
  }

  /** Sets the limits that the machine can enforce. @throws Error if the kernel refuses one, such as too little memory */
  limit(id: string, resources: ResourceRequirements, pidsMax: number | undefined): void {
    const folder = join(this.#root, id);
    const { limits = {} } = resources;
    const set = (controller: Controller, file: string, value: string) => {
      if (this.controllers.has(controller)) writeFileSync(join(folder, file), value);
    };
    set("memory", "memory.max", limits["memory"] === undefined ? "max" : String(wholeUnits(limits["memory"])));
    set("memory", "memory.oom.group", "1");
    set("cpu", "cpu.max", limits["cpu"] === undefined ? "max" : `${quotaMicros(limits["cpu"])} ${cpuPeriodMicros}`);
    set("pids", "pids.max", pidsMax === undefined ? "max" : String(pidsMax));
  }

  /** Kills all processes of the group. Does nothing if there is none. */
  kill(id: string): void {
    try {
      writeFileSync(join(this.#root, id, "cgroup.kill"), "1");
    } catch {
      // The group is gone, or the kernel is older than 5.14. The caller also kills the processes one by one.
    }
  }

  /** Returns the pids of the processes in the group. */
  pids(id: string): number[] {
    const text = readText(join(this.#root, id, "cgroup.procs")) ?? "";
    return text.split("\n").filter(Boolean).map(Number);
  }

  /** Reports whether the kernel has killed a process of the group because its memory was used up. */
  ranOutOfMemory(id: string): boolean {
    const kills = /^oom_kill (\d+)$/m.exec(readText(join(this.#root, id, "memory.events")) ?? "")?.[1];
    return kills !== undefined && kills !== "0";
  }

  /** Returns undefined if the group does not count them. */
  usage(id: string): GroupUsage | undefined {
    const folder = join(this.#root, id);
    const micros = /^usage_usec (\d+)$/m.exec(readText(join(folder, "cpu.stat")) ?? "")?.[1];
    const memory = readText(join(folder, "memory.current"));
    if (micros === undefined || memory === undefined) return undefined;
    const inactive = /^inactive_file (\d+)$/m.exec(readText(join(folder, "memory.stat")) ?? "")?.[1] ?? "0";
    const memoryBytes = Number(memory);
    return {
      cpuNanoseconds: Number(micros) * 1_000,
      memoryBytes,
      workingSetBytes: Math.max(0, memoryBytes - Number(inactive)),
    };
  }

  /** Removes an empty group. */
  remove(id: string): void {
    try {
      rmdirSync(join(this.#root, id));
    } catch {
      // It is gone, or a process that cannot be killed is in it.
    }
  }

  /** Removes the group of all containers, unless there are some. */
  [Symbol.dispose](): void {
    this.remove("");
  }
}

/** Returns undefined without cgroup v2. */
function ownGroupFolder({ mountInfo, ownGroup }: KernelFiles): string | undefined {
  const mounted = readFileSync(mountInfo, "utf8")
    .split("\n")
    .map((line) => line.split(" - "))
    .find(([, kind = ""]) => kind.startsWith("cgroup2 "))?.[0];
  const mountPoint = mounted?.split(" ")[4];
  const path = /^0::(.*)$/m.exec(readFileSync(ownGroup, "utf8"))?.[1];
  return mountPoint === undefined || path === undefined ? undefined : join(mountPoint, path);
}

/** Lets the groups below `own` have controllers, and returns those that they can have. */
function delegate(own: string): Controller[] {
  const offered = wordsOf(join(own, "cgroup.controllers"));
  const wanted = controllers.filter((controller) => offered.has(controller));
  const enabled = wordsOf(join(own, "cgroup.subtree_control"));
  if (wanted.some((controller) => !enabled.has(controller)) && own !== "/") leaveGroup(own);
  return wanted.filter((controller) => enable(own, controller));
}

/** Moves this process to a group below, because a group with processes cannot hand controllers on. */
function leaveGroup(own: string): void {
  try {
    const agent = join(own, "agent");
    mkdirSync(agent, { recursive: true });
    writeFileSync(join(agent, "cgroup.procs"), String(process.pid));
  } catch {
    // The root group may keep its processes.
  }
}

function enable(folder: string, controller: Controller): boolean {
  const file = join(folder, "cgroup.subtree_control");
  if (wordsOf(file).has(controller)) return true;
  try {
    writeFileSync(file, `+${controller}`);
    return true;
  } catch {
    return false;
  }
}

function wordsOf(file: string): Set<string> {
  return new Set((readText(file) ?? "").trim().split(/\s+/));
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

function wholeUnits(text: string): bigint {
  return parseQuantity(text).nanos / nanosPerUnit;
}

function quotaMicros(cpu: string): number {
  const micros = (parseQuantity(cpu).nanos * BigInt(cpuPeriodMicros)) / nanosPerUnit;
  return Math.max(cpuQuotaMicrosMin, Number(micros));
}

import type { ResourceList } from "../../api/types/core-v1.ts";

/** The facts of a machine, which seldom change. */
export interface MachineInfo {
  /** Resources of the whole machine, such as `cpu`, `memory` and `ephemeral-storage`. The number of pods is added. */
  readonly capacity: ResourceList;
  readonly swapBytes: number;
  readonly machineId: string;
  readonly systemUuid: string;
  /** Different after each start of the machine. */
  readonly bootId: string;
  readonly kernelVersion: string;
  readonly osImage: string;
  /** In Go's words: `linux`, and `amd64` or `arm64`. */
  readonly operatingSystem: string;
  readonly architecture: string;
  /** Addresses of the machine, the primary one first. */
  readonly addresses: readonly string[];
}

/** A supply of which some is left. */
export interface Supply {
  readonly available: number;
  readonly capacity: number;
}

/** The supplies that eviction watches, by signal. A signal that cannot be measured is absent. */
export type MachineUsage = Readonly<Partial<Record<EvictionSignal, Supply>>>;

export type EvictionSignal =
  | "memory.available"
  | "nodefs.available"
  | "nodefs.inodesFree"
  | "imagefs.available"
  | "imagefs.inodesFree"
  | "pid.available";

/** The machine that a node stands for. A simulated one may share its answers with others. */
export interface Machine {
  info(): Promise<MachineInfo>;
  usage(): Promise<MachineUsage>;
}

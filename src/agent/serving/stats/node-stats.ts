/** The state of a machine, as far as it can be measured. */
export interface NodeStats {
  readonly timeMs: number;
  /** Start of the machine. */
  readonly startedAtMs?: number | undefined;
  /** CPU time of all cores since the start. */
  readonly cpuNanoseconds?: number | undefined;
  readonly cpuCount?: number | undefined;
  readonly memory?: MemoryStats | undefined;
  /** The file system of the agent's root directory. */
  readonly fs?: FileSystemStats | undefined;
  readonly imageFs?: FileSystemStats | undefined;
  readonly processes?: { readonly max: number; readonly running: number } | undefined;
}

export interface MemoryStats {
  readonly capacityBytes: number;
  readonly availableBytes: number;
  readonly usageBytes: number;
  readonly workingSetBytes: number;
}

export interface FileSystemStats {
  readonly capacityBytes: number;
  readonly availableBytes: number;
  readonly usedBytes: number;
  readonly inodes: number;
  readonly inodesFree: number;
}

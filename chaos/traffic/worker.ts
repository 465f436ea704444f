/** One of the clients of a run: goes on until it is told to stop, and resolves when it has. */
export interface Worker {
  run(stop: AbortSignal): Promise<void>;
}

/** Where a worker may be that is not tied to one member. */
export interface Roaming {
  readonly members: number;
  /** Undefined: it moves. */
  readonly pinnedTo: number | undefined;
}

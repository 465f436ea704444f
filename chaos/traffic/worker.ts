/** One client of a run. It works until it is told to stop, and resolves when it has stopped. */
export interface Worker {
  run(stop: AbortSignal): Promise<void>;
}

/** The members of a worker that is not tied to one. */
export interface Roaming {
  readonly members: number;
  /** Fixed member; undefined if it moves. */
  readonly pinnedTo: number | undefined;
}

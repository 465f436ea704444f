/** A broken rule of ours, or storage that did not keep what it promised: stopping is better than going on. */
export class RaftInvariantError extends Error {
  override readonly name = "RaftInvariantError";
}

/** @throws RaftInvariantError unless `condition` holds. */
export function assert(condition: boolean, message: () => string): asserts condition {
  if (!condition) throw new RaftInvariantError(`raft: ${message()}`);
}

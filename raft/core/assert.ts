/** An internal error, or storage that broke its promise. Stopping is safer than continuing. */
export class RaftInvariantError extends Error {
  override readonly name = "RaftInvariantError";
}

/** @throws RaftInvariantError unless `condition` holds. */
export function assert(condition: boolean, message: () => string): asserts condition {
  if (!condition) throw new RaftInvariantError(`raft: ${message()}`);
}

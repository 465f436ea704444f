/** Explains why a mutation cannot be made. The policy's failurePolicy decides what follows. */
export class MutationError extends Error {
  override readonly name = "MutationError";
}

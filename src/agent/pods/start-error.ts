/** A container that could not be started, with the reason and message of its status. */
export class StartError extends Error {
  override readonly name = "StartError";
  readonly reason: string;
  /** Time of the next attempt, by the steady clock; undefined to let the worker choose. */
  readonly retryAtMs: number | undefined;
  constructor(reason: string, message: string, retryAtMs?: number) {
    super(message);
    this.reason = reason;
    this.retryAtMs = retryAtMs;
  }
}

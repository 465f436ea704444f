/**
 * Where the server is between start and end:
 * `serving` → `leaving` (served as normal, readyz fails) → `refusing` (new requests are sent elsewhere) → `stopped`.
 * `removed` is for a member that its cluster has removed: every answer would be out of date.
 */
export type LifecyclePhase = "serving" | "leaving" | "removed" | "refusing" | "stopped";

const order: readonly LifecyclePhase[] = ["serving", "leaving", "removed", "refusing", "stopped"];

export class Lifecycle {
  #phase: LifecyclePhase = "serving";

  get phase(): LifecyclePhase {
    return this.#phase;
  }

  /** Goes forward only; an earlier phase is ignored. */
  advance(phase: LifecyclePhase): void {
    if (order.indexOf(phase) > order.indexOf(this.#phase)) this.#phase = phase;
  }
}

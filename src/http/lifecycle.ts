/**
 * Where the server is between start and end:
 * `serving` → `leaving` (served as normal, readyz fails) → `refusing` (new requests are sent elsewhere) → `stopped`.
 */
export type LifecyclePhase = "serving" | "leaving" | "refusing" | "stopped";

const order: readonly LifecyclePhase[] = ["serving", "leaving", "refusing", "stopped"];

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

/**
 * The phases of a server: `serving` → `leaving` (serves as before, but readyz fails) → `refusing` (directs new requests
 * elsewhere) → `stopped`. A member that its cluster has removed is in `removed`, because its answers would be outdated.
 */
export type LifecyclePhase = "serving" | "leaving" | "removed" | "refusing" | "stopped";

const order: readonly LifecyclePhase[] = ["serving", "leaving", "removed", "refusing", "stopped"];

export class Lifecycle {
  #phase: LifecyclePhase = "serving";

  get phase(): LifecyclePhase {
    return this.#phase;
  }

  /** Moves forward only; an earlier phase is ignored. */
  advance(phase: LifecyclePhase): void {
    if (order.indexOf(phase) > order.indexOf(this.#phase)) this.#phase = phase;
  }
}

import { cloneJson, equalJson, type JsonObject } from "../../api/json.ts";
import type { Reinvocation } from "../../registry/reinvocation.ts";

/** The policies that ran in the first round, and those of them that run again in the second. */
class PolicyRounds {
  /** The object as the last round left it; kept only if a policy may run again. */
  #output: JsonObject | undefined;
  readonly #ran = new Set<string>();
  readonly #queued = new Set<string>();

  /** Policies run again when other plugins have changed the object since. */
  begin(object: JsonObject | undefined, isRepeat: boolean): void {
    if (isRepeat && this.#ran.size > 0 && !equalJson(this.#output ?? null, object ?? null)) this.queueAll();
  }

  end(object: JsonObject | undefined): void {
    this.#output = object === undefined || this.#ran.size === 0 ? undefined : cloneJson(object);
  }

  isQueued(key: string): boolean {
    return this.#queued.has(key);
  }

  /** Notes a policy that wants to run again after changes by others. */
  note(key: string): void {
    this.#ran.add(key);
  }

  /** Queues all policies noted so far: the object is no longer what they saw. */
  queueAll(): void {
    for (const key of this.#ran) this.#queued.add(key);
    this.#ran.clear();
  }
}

const rounds = new WeakMap<Reinvocation, PolicyRounds>();

/** Returns the notes of the write attempt to which a reinvocation belongs. */
export function roundsOf(reinvocation: Reinvocation): PolicyRounds {
  let found = rounds.get(reinvocation);
  if (found === undefined) {
    found = new PolicyRounds();
    rounds.set(reinvocation, found);
  }
  return found;
}
